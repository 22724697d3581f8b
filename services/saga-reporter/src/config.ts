import { trustedIssuerFields } from '@switchyard/callers'
import {
  booleanFlag,
  databaseUrl,
  httpServiceFields,
  integer,
  port,
  proxyNetworks,
  redisUrl,
} from '@switchyard/config'
import { webhookSecretFields } from '@switchyard/webhooks'
import { z } from 'zod'
import { parsePeerBindings } from './shapes/peer.js'
import { isTraceUrlTemplate } from './shapes/trace-url.js'

const tlsFields = {
  SAGA_TLS_CERT_FILE: z
    .string()
    .optional()
    .describe('Certificate chain of the gRPC port, PEM; read again when it changes. Unset: no TLS'),
  SAGA_TLS_KEY_FILE: z.string().optional().describe('Private key of the certificate, PEM'),
  SAGA_TLS_CLIENT_CA_FILE: z
    .string()
    .optional()
    .describe("Authorities of the clients' certificates, PEM. With it, every client needs a certificate"),
  SAGA_MTLS_PEERS: z
    .string()
    .transform((text, context) => {
      const bindings = parsePeerBindings(text)
      if (bindings) return bindings
      context.addIssue({ code: 'custom', message: 'must be NAME=service:SERVICE or NAME=tenant:TENANT, …' })
      return z.NEVER
    })
    .optional()
    .describe(
      'For `mtls`: `orders.internal=service:orders, billing=tenant:acme`; see [operations.md](operations.md#who-may-report-sagas)',
    ),
}

export const configSchema = z
  .object({
    ...httpServiceFields,
    DATABASE_URL: databaseUrl().describe('`postgresql://user:password@host:port/database`'),
    DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(10).describe('Connections to PostgreSQL'),
    DATABASE_READ_POOL_SIZE_MAX: integer(1, 1000)
      .default(5)
      .describe(
        'Connections to PostgreSQL for reads, webhooks, bulk jobs and commands, beside those for events',
      ),
    DATABASE_READ_TIMEOUT_MS: integer(100, 600_000)
      .default(10_000)
      .describe(
        'A statement on these connections that takes longer is cancelled; a read is then answered with 503',
      ),
    REDIS_URL: redisUrl()
      .optional()
      .describe(
        '`redis://host:port`, `rediss://…` (TLS), [`redis+sentinel://…`](scaling.md#redis) or `unix:///path`; wakes the [streams](sagas.md#live) of every replica. Unset, or while it is unreachable: each polls the log every second',
      ),
    SAGA_STREAMS_MAX: integer(0, 1_000_000)
      .default(1000)
      .describe('Clients that may follow the log at once, in one process'),
    SAGA_STREAMS_PER_TOKEN_MAX: integer(1, 1_000_000)
      .optional()
      .describe(
        'Clients with one token that may follow the log at once, in one process. Unset: a tenth of `SAGA_STREAMS_MAX`, at least one',
      ),
    SAGA_STREAMS_PER_ADDRESS_MAX: integer(1, 1_000_000)
      .optional()
      .describe(
        'Clients from one address that may follow the log at once, in one process. Unset: a quarter of `SAGA_STREAMS_MAX`, at least one',
      ),
    SAGA_STREAM_STALL_MS_MAX: integer(100, 3_600_000)
      .default(30_000)
      .describe('A client of a stream or an export that reads nothing for this time is disconnected'),
    GRPC_HOST: z.string().default('127.0.0.1').describe('Address the gRPC port listens on'),
    GRPC_PORT: port().default(50051).describe('gRPC port'),
    GRPC_TRUSTED_PROXIES: proxyNetworks()
      .optional()
      .describe(
        'Addresses and networks that the gRPC port believes about the address of a caller (`x-forwarded-for`), separated by commas: those of the gateway; `loopback` and `uniquelocal` (private networks) are names of some. Unset: nobody',
      ),
    SAGA_AUTH: z
      .enum(['none', 'token', 'mtls'], 'must be none, token or mtls')
      .optional()
      .describe(
        'Who may report over gRPC: `none` (every caller of the port), `token` or `mtls`. Unset: `none` on loopback, else `token`. Over HTTP: a token, nobody with `mtls`',
      ),
    SAGA_AUTH_NONE_ON_NETWORK: booleanFlag()
      .default(false)
      .describe('`true` allows `SAGA_AUTH=none` beyond loopback'),
    ...tlsFields,
    SAGA_RATE_LIMIT_PER_SERVICE: integer(0, 1_000_000)
      .default(0)
      .describe(
        'Events a second that each service, and [each CI job](keyless-ci.md#show-the-token), may report to one process. `0`: no limit',
      ),
    SAGA_RATE_LIMIT_BURST: integer(1, 10_000_000)
      .optional()
      .describe('Events that a service may report at once after a pause. Unset: those of a second'),
    SAGA_SERVICE_NAME_OPTIONAL: booleanFlag()
      .default(false)
      .describe('`true` accepts a SagaStarted without a service name'),
    SAGA_INGEST_QUEUE_MAX: integer(1, 1_000_000)
      .default(10_000)
      .describe('Events that may wait to be written. More are refused with `UNAVAILABLE`'),
    SAGA_INGEST_QUEUE_BYTES_MAX: integer(1, 2 ** 31)
      .default(64 * 1024 * 1024)
      .describe('Bytes that waiting events may take'),
    SAGA_STRICT: booleanFlag()
      .default(false)
      .describe(
        '`true` refuses events out of order: before the reported start or after the end of their saga, or contradicting a recorded status',
      ),
    SAGA_UNAVAILABLE_AS_FAILURE: booleanFlag()
      .default(false)
      .describe(
        '`true` answers `isSuccess=false` in place of `UNAVAILABLE`, for clients that ignore gRPC statuses',
      ),
    SAGA_COMMANDS_APPROVAL: booleanFlag()
      .default(false)
      .describe(
        '`true` has [commands](sagas.md#commands) for orchestrators wait until another administrator approves them',
      ),
    SAGA_PAYLOAD_BYTES_MAX: integer(4096, 64 * 1024 * 1024)
      .default(256 * 1024)
      .describe(
        'Bytes of a payload that are stored whole; of a larger one its size, SHA-256 and first 4 KiB are kept',
      ),
    SAGA_ERRORS_BYTES_MAX: integer(1024, 16 * 1024 * 1024)
      .default(16 * 1024)
      .describe('Bytes of errors that are stored; of longer ones also the size and SHA-256 of the whole'),
    SAGA_INGEST_LANES: integer(1, 64)
      .default(2)
      .describe('Transactions that write events at the same time, at most'),
    SWITCHYARD_TRACE_URL: z
      .string()
      .refine(isTraceUrlTemplate, 'must be a URL such as https://tempo.example.com/trace/{trace_id}')
      .optional()
      .describe(
        'Where traces are shown, such as `https://tempo.example.com/trace/{trace_id}`; the console links the events of a saga there. Unset: no links',
      ),
    ...trustedIssuerFields,
    ...webhookSecretFields,
  })
  .refine((config) => config.SAGA_AUTH !== 'none' || mayBeOpen(config), {
    path: ['SAGA_AUTH'],
    error:
      'none would let the whole network report: listen on loopback (GRPC_HOST), use token, or set SAGA_AUTH_NONE_ON_NETWORK=true',
  })
  .superRefine((config, context) => {
    const refuse = (variable: string, message: string) =>
      context.addIssue({ code: 'custom', path: [variable], message })
    const { SAGA_TLS_CERT_FILE: cert, SAGA_TLS_KEY_FILE: key, SAGA_TLS_CLIENT_CA_FILE: ca } = config
    if (cert !== undefined && key === undefined) refuse('SAGA_TLS_KEY_FILE', 'beside SAGA_TLS_CERT_FILE')
    if (cert === undefined && (key ?? ca) !== undefined) refuse('SAGA_TLS_CERT_FILE', 'for TLS')
    if (config.SAGA_AUTH === 'mtls') {
      if (ca === undefined) refuse('SAGA_TLS_CLIENT_CA_FILE', 'for SAGA_AUTH=mtls')
      if (config.SAGA_MTLS_PEERS === undefined) refuse('SAGA_MTLS_PEERS', 'for SAGA_AUTH=mtls')
    } else if (config.SAGA_MTLS_PEERS !== undefined) refuse('SAGA_MTLS_PEERS', 'needs SAGA_AUTH=mtls')
  })

export type Config = z.output<typeof configSchema>

/** Returns how callers of the gRPC port are identified. */
export const sagaAuthOf = ({ SAGA_AUTH: auth, GRPC_HOST: host }: Config) =>
  auth ?? (isLoopback(host) ? 'none' : 'token')

/** Returns the files of the gRPC port's certificates; undefined without TLS. */
export function tlsFilesOf(config: Config) {
  const { SAGA_TLS_CERT_FILE: certFile, SAGA_TLS_KEY_FILE: keyFile } = config
  if (certFile === undefined || keyFile === undefined) return undefined
  return { certFile, keyFile, clientCaFile: config.SAGA_TLS_CLIENT_CA_FILE }
}

const mayBeOpen = (config: { GRPC_HOST: string; SAGA_AUTH_NONE_ON_NETWORK: boolean }) =>
  isLoopback(config.GRPC_HOST) || config.SAGA_AUTH_NONE_ON_NETWORK

const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)
