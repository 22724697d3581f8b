import { databaseUrl, httpServiceFields, integer, redisUrl } from '@switchyard/service-kit/config'
import { z } from 'zod'

export const configSchema = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl(),
  /** Connections to PostgreSQL. Unset: 2. */
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(2),
  REDIS_URL: redisUrl(),
  /** How long answers may show the same figures. Processes report every 5 s anyway. Unset: 1,000 ms. */
  JOBQUEUE_CACHE_MS: integer(0, 10_000).default(1000),
})

export type Config = z.output<typeof configSchema>
