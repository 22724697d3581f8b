import { isAbsolute } from 'node:path'
import { databaseUrl, httpServiceFields, integer, redisUrl } from '@switchyard/service-kit/config'
import { webhookSecretFields, webhookTargetFields } from '@switchyard/webhooks'
import { z } from 'zod'
import { sagaFields } from './saga-config.js'

export const configSchema = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl(),
  /** Connections to PostgreSQL. Unset: 5. */
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(5),
  REDIS_URL: redisUrl(),
  /** Folder below which the bare repositories lie. */
  SWITCHYARD_STORAGE_ROOT: z.string().refine(isAbsolute, 'must be an absolute path'),
  /** Repositories this process tidies at once. Unset: 2. */
  WORKER_HOUSEKEEPING_CONCURRENCY: integer(1, 64).default(2),
  /** Name under which the job-queue metrics show this process, such as its deployment. Unset: switchyard. */
  WORKER_TAG: z.string().max(100).default('switchyard'),
  ...sagaFields,
  ...webhookTargetFields,
  ...webhookSecretFields,
})

export type Config = z.output<typeof configSchema>
