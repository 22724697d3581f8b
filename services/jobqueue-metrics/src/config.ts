import { trustedIssuerFields } from '@switchyard/callers'
import { booleanFlag, databaseUrl, httpServiceFields, integer, redisUrl } from '@switchyard/config'
import { z } from 'zod'
import { jobSources } from './source-config.js'

export const configSchema = z.object({
  ...httpServiceFields,
  ...trustedIssuerFields,
  DATABASE_URL: databaseUrl().describe('`postgresql://user:password@host:port/database`'),
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(2).describe('Connections to PostgreSQL'),
  REDIS_URL: redisUrl().describe(
    '`redis://host:port`, `rediss://…` (TLS), [`redis+sentinel://…`](scaling.md#redis) or `unix:///path`; keeps the history, and is the source when no other is named',
  ),
  JOBQUEUE_SOURCES: jobSources()
    .optional()
    .describe(
      "Job systems to report on, as JSON: see [job queues](job-queues.md). Unset: Switchyard's own jobs",
    ),
  JOBQUEUE_CACHE_MS: integer(0, 10_000).default(1000).describe('How long answers may show the same metrics'),
  JOBQUEUE_HISTORY: booleanFlag()
    .default(true)
    .describe('Whether the last day is kept for `GET /jobqueue/history`'),
})

export type Config = z.output<typeof configSchema>
