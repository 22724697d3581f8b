import { databaseUrl, httpServiceFields, integer, redisUrl } from '@switchyard/service-kit/config'
import { z } from 'zod'

export const configSchema = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl(),
  /** Connections to PostgreSQL. Unset: 5. */
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(5),
  REDIS_URL: redisUrl(),
  /** Most simultaneous clients of the message stream. Unset: 5,000. */
  BROADCAST_STREAM_CLIENTS_MAX: integer(0, 1_000_000).default(5000),
  /** Most simultaneous clients of one address or one token. Unset: 500. */
  BROADCAST_STREAM_CLIENTS_PER_ADDRESS_MAX: integer(0, 1_000_000).default(500),
})

export type Config = z.output<typeof configSchema>
