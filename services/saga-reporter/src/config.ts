import { booleanFlag, databaseUrl, httpServiceFields, integer, port } from '@switchyard/service-kit/config'
import { z } from 'zod'

export const configSchema = z
  .object({
    ...httpServiceFields,
    DATABASE_URL: databaseUrl(),
    /** Connections to PostgreSQL. Unset: 10. */
    DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(10),
    /** Address the gRPC port listens on. Unset: loopback only. */
    GRPC_HOST: z.string().default('127.0.0.1'),
    /** gRPC port. Unset: 50051. */
    GRPC_PORT: port().default(50051),
    /** Who may report: whoever reaches the port, or tokens. Unset: `none` on loopback, else `token`. */
    SAGA_AUTH: z.enum(['none', 'token'], 'must be none or token').optional(),
    /** `true`: SAGA_AUTH=none holds beyond loopback, where everybody who reaches the port may then report. */
    SAGA_AUTH_NONE_ON_NETWORK: booleanFlag().default(false),
    /** `true`: SagaStarted without a service name is taken. Unset: it is refused. */
    SAGA_SERVICE_NAME_OPTIONAL: booleanFlag().default(false),
    /** Events that may wait to be written; more are refused with UNAVAILABLE. Unset: 10000. */
    SAGA_INGEST_QUEUE_MAX: integer(1, 1_000_000).default(10_000),
    /** Bytes that waiting events may take. Unset: 64 MiB. */
    SAGA_INGEST_QUEUE_BYTES_MAX: integer(1, 2 ** 31).default(64 * 1024 * 1024),
    /** Batches that are written at the same time. Unset: 2. */
    SAGA_INGEST_LANES: integer(1, 64).default(2),
  })
  .refine((config) => config.SAGA_AUTH !== 'none' || mayBeOpen(config), {
    path: ['SAGA_AUTH'],
    error:
      'none would let the whole network report: listen on loopback (GRPC_HOST), use token, or set SAGA_AUTH_NONE_ON_NETWORK=true',
  })

export type Config = z.output<typeof configSchema>

/** How callers of the gRPC port are known. */
export const sagaAuthOf = ({ SAGA_AUTH, GRPC_HOST }: Config): 'none' | 'token' =>
  SAGA_AUTH ?? (isLoopback(GRPC_HOST) ? 'none' : 'token')

const mayBeOpen = (config: { GRPC_HOST: string; SAGA_AUTH_NONE_ON_NETWORK: boolean }) =>
  isLoopback(config.GRPC_HOST) || config.SAGA_AUTH_NONE_ON_NETWORK

const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)
