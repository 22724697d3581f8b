import { databaseUrl, httpServiceFields, integer, redisUrl } from '@switchyard/service-kit/config'
import { z } from 'zod'

export const configSchema = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl(),
  /** Connections to PostgreSQL. Unset: 5. */
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(5),
  REDIS_URL: redisUrl(),
  /** Clients that may follow the stream of messages at once. Unset: 5,000. */
  BROADCAST_STREAM_CLIENTS_MAX: integer(0, 1_000_000).default(5000),
  /** Those of one address, or of one token. Unset: 500. */
  BROADCAST_STREAM_CLIENTS_PER_ADDRESS_MAX: integer(0, 1_000_000).default(500),
})

export type Config = z.output<typeof configSchema>
