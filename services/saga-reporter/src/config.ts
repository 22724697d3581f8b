import {
  booleanFlag,
  databaseUrl,
  httpServiceFields,
  integer,
  port,
  redisUrl,
} from '@switchyard/service-kit/config'
import type { AuthenticateFrom } from '@switchyard/service-kit/http'
import { webhookSecretFields, webhookTargetFields } from '@switchyard/webhooks'
import { z } from 'zod'
import type { SagaAuth } from './access/authorize.js'
import { parsePeerBindings } from './access/peer.js'
import type { StreamLimits } from './live/open-streams.js'
import type { TlsFiles } from './rpc/server/tls.js'

const tlsFields = {
  /** Certificate chain of the gRPC port, PEM. Unset: no TLS. */
  SAGA_TLS_CERT_FILE: z.string().optional(),
  /** Its key, PEM. */
  SAGA_TLS_KEY_FILE: z.string().optional(),
  /** Authorities of clients' certificates, PEM. When set, every client needs a certificate. */
  SAGA_TLS_CLIENT_CA_FILE: z.string().optional(),
  /** What each certificate may report for: `orders.internal=service:orders, billing=tenant:acme`. */
  SAGA_MTLS_PEERS: z
    .string()
    .transform((text, context) => {
      const bindings = parsePeerBindings(text)
      if (bindings) return bindings
      context.addIssue({ code: 'custom', message: 'must be NAME=service:SERVICE or NAME=tenant:TENANT, …' })
      return z.NEVER
    })
    .optional(),
}

export const configSchema = z
  .object({
    ...httpServiceFields,
    DATABASE_URL: databaseUrl(),
    /** Connections to PostgreSQL. Unset: 10. */
    DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(10),
    /** Connections to PostgreSQL for reading, beside those for events. Unset: 5. */
    DATABASE_READ_POOL_SIZE_MAX: integer(1, 1000).default(5),
    /** A read that takes longer is answered with 503. Unset: 10 s. */
    DATABASE_READ_TIMEOUT_MS: integer(100, 600_000).default(10_000),
    /** Wakes the streams of every replica. Unset: each replica polls the log every second. */
    REDIS_URL: redisUrl().optional(),
    /** Clients that may follow the log at once, in one process. Unset: 1000. */
    SAGA_STREAMS_MAX: integer(0, 1_000_000).default(1000),
    /** Of these, clients with one token. Unset: a tenth of SAGA_STREAMS_MAX, at least one. */
    SAGA_STREAMS_PER_TOKEN_MAX: integer(1, 1_000_000).optional(),
    /** Of these, clients from one address. Unset: a quarter of SAGA_STREAMS_MAX, at least one. */
    SAGA_STREAMS_PER_ADDRESS_MAX: integer(1, 1_000_000).optional(),
    /** A client of a stream that reads nothing for this time is disconnected. Unset: 30 s. */
    SAGA_STREAM_STALL_MS_MAX: integer(100, 3_600_000).default(30_000),
    /** Address the gRPC port listens on. Unset: loopback only. */
    GRPC_HOST: z.string().default('127.0.0.1'),
    /** gRPC port. Unset: 50051. */
    GRPC_PORT: port().default(50051),
    /** Who may report: every caller of the port, tokens, or certificates. Unset: `none` on loopback, else `token`. */
    SAGA_AUTH: z.enum(['none', 'token', 'mtls'], 'must be none, token or mtls').optional(),
    /** `true`: SAGA_AUTH=none is allowed beyond loopback; every caller that reaches the port may then report. */
    SAGA_AUTH_NONE_ON_NETWORK: booleanFlag().default(false),
    ...tlsFields,
    /** Events a second that each service may report, in one process. Unset: 0, no limit. */
    SAGA_RATE_LIMIT_PER_SERVICE: integer(0, 1_000_000).default(0),
    /** Events that a service may report at once after a quiet time. Unset: as many as in a second. */
    SAGA_RATE_LIMIT_BURST: integer(1, 10_000_000).optional(),
    /** `true`: SagaStarted without a service name is accepted. Unset: it is refused. */
    SAGA_SERVICE_NAME_OPTIONAL: booleanFlag().default(false),
    /** Events that may wait to be written; more are refused with UNAVAILABLE. Unset: 10000. */
    SAGA_INGEST_QUEUE_MAX: integer(1, 1_000_000).default(10_000),
    /** Bytes that waiting events may take. Unset: 64 MiB. */
    SAGA_INGEST_QUEUE_BYTES_MAX: integer(1, 2 ** 31).default(64 * 1024 * 1024),
    /** `true`: events that contradict the known state are refused. Unset: they are stored with an anomaly. */
    SAGA_STRICT: booleanFlag().default(false),
    /** `true`: UNAVAILABLE is answered as isSuccess=false, for clients that ignore gRPC statuses. */
    SAGA_UNAVAILABLE_AS_FAILURE: booleanFlag().default(false),
    /** Payloads up to this size are stored whole; of larger payloads, the head is stored. Unset: 256 KiB. */
    SAGA_PAYLOAD_BYTES_MAX: integer(4096, 64 * 1024 * 1024).default(256 * 1024),
    /** Bytes of errors that are stored. Unset: 16 KiB. */
    SAGA_ERRORS_BYTES_MAX: integer(1024, 16 * 1024 * 1024).default(16 * 1024),
    /** Transactions that write events at the same time, at most. Unset: 2. */
    SAGA_INGEST_LANES: integer(1, 64).default(2),
    ...webhookTargetFields,
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

/** How many clients may follow the log at once. */
export function streamLimitsOf(config: Config): StreamLimits {
  const { SAGA_STREAMS_MAX: total } = config
  return {
    total,
    perToken: config.SAGA_STREAMS_PER_TOKEN_MAX ?? Math.max(1, Math.floor(total / 10)),
    perAddress: config.SAGA_STREAMS_PER_ADDRESS_MAX ?? Math.max(1, Math.floor(total / 4)),
  }
}

/** How callers of the gRPC port are identified. */
export function sagaAuthOf(config: Config, authenticate: AuthenticateFrom): SagaAuth {
  const auth = config.SAGA_AUTH ?? (isLoopback(config.GRPC_HOST) ? 'none' : 'token')
  if (auth === 'mtls') return { auth, peers: config.SAGA_MTLS_PEERS ?? new Map() }
  return auth === 'token' ? { auth, authenticate } : { auth }
}

/** The files of the gRPC port's certificates; undefined without TLS. */
export function tlsFilesOf(config: Config): TlsFiles | undefined {
  const { SAGA_TLS_CERT_FILE: certFile, SAGA_TLS_KEY_FILE: keyFile } = config
  if (certFile === undefined || keyFile === undefined) return undefined
  return { certFile, keyFile, clientCaFile: config.SAGA_TLS_CLIENT_CA_FILE }
}

const mayBeOpen = (config: { GRPC_HOST: string; SAGA_AUTH_NONE_ON_NETWORK: boolean }) =>
  isLoopback(config.GRPC_HOST) || config.SAGA_AUTH_NONE_ON_NETWORK

const isLoopback = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)
