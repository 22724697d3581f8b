import { isAbsolute } from 'node:path'
import { databaseUrl, httpServiceFields, integer, redisUrl } from '@switchyard/config'
import { outboundTargetFields } from '@switchyard/outbound-http'
import { webhookSecretFields } from '@switchyard/webhooks'
import { z } from 'zod'
import { auditFields } from './audit-config.js'
import { impactFields } from './impact-config.js'
import { sagaFields } from './saga-config.js'

export const configSchema = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl().describe('`postgresql://user:password@host:port/database`'),
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(5).describe('Connections to PostgreSQL'),
  REDIS_URL: redisUrl().describe(
    '`redis://host:port`, `rediss://…` (TLS), [`redis+sentinel://…`](scaling.md#redis) or `unix:///path`; the queues of background jobs',
  ),
  SWITCHYARD_STORAGE_ROOT: z
    .string()
    .refine(isAbsolute, 'must be an absolute path')
    .describe(
      'Absolute path of the folder of the bare repositories, the same as in git-api. The images set `/var/lib/switchyard/repositories`',
    ),
  SWITCHYARD_STORAGE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens, 63 at most')
    .default('default')
    .describe(
      'Name of the [storage](scaling.md#storages-of-repositories) below `SWITCHYARD_STORAGE_ROOT`, the same as in its git-api',
    ),
  WORKER_HOUSEKEEPING_CONCURRENCY: integer(1, 64)
    .default(2)
    .describe('Repositories that this process tidies at the same time'),
  WORKER_TAG: z
    .string()
    .max(100)
    .default('switchyard')
    .describe('Name under which the job-queue metrics show this process'),
  ...sagaFields,
  ...impactFields,
  ...auditFields,
  ...outboundTargetFields,
  ...webhookSecretFields,
})

export type Config = z.output<typeof configSchema>
