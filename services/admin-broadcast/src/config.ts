import { trustedIssuerFields } from '@switchyard/callers'
import { databaseUrl, httpServiceFields, integer, redisUrl } from '@switchyard/config'
import { z } from 'zod'

export const configSchema = z.object({
  ...httpServiceFields,
  ...trustedIssuerFields,
  DATABASE_URL: databaseUrl().describe('`postgresql://user:password@host:port/database`'),
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(5).describe('Connections to PostgreSQL'),
  REDIS_URL: redisUrl().describe(
    '`redis://host:port`, `rediss://…` (TLS), [`redis+sentinel://…`](scaling.md#redis) or `unix:///path`; notices between replicas, and the jobs for the times at which messages go on and off. While it is unreachable, changes reach other replicas up to a second late',
  ),
  BROADCAST_STREAM_CLIENTS_MAX: integer(0, 1_000_000)
    .default(5000)
    .describe(
      'Clients that may follow the stream of one process at once; further clients get 503 and poll instead',
    ),
  BROADCAST_STREAM_CLIENTS_PER_ADDRESS_MAX: integer(0, 1_000_000)
    .default(500)
    .describe(
      'Clients of one user, or of one address without a token, that may follow the stream of one process at once; further clients get 429 and poll instead',
    ),
})

export type Config = z.output<typeof configSchema>
