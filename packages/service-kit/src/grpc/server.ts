import {
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import type { Health } from '../lifecycle/index.js'
import type { Logger, Metrics } from '../observability/index.js'
import type { DirectMethod } from './direct-call.js'
import { answerDirectly } from './direct-calls.js'
import { insideOf } from './http2-servers.js'
import { type CallFigures, createCallFigures, observe } from './observe.js'
import { createOpenStreams } from './open-streams.js'
import { createReflection } from './reflection.js'
import { createReloadingCredentials, type TlsFiles } from './tls.js'
import { keepStreamsYoung } from './young-streams.js'

export interface GrpcService {
  /** Full name, as health and reflection show it, e.g. `svc.Sagas.Server.Grpc.Saga`. */
  name: string
  definition: ServiceDefinition
  implementation: UntypedServiceImplementation
}

export interface GrpcServerOptions {
  host: string
  port: number
  services: GrpcService[]
  /** Serialized FileDescriptorSet of the services, for reflection. */
  descriptorSet: Uint8Array
  health: Health
  logger: Logger
  metrics: Metrics
  /** Certificates. Unset: no TLS, for a gateway that adds it. */
  tls?: TlsFiles
  /**
   * How old a connection may get before its client is told to open another, which spreads clients over
   * new replicas and shows new certificates. Calls under way then have `connectionAgeGraceMs` to finish.
   */
  connectionAgeMsMax?: number
  connectionAgeGraceMs?: number
  /** How often readiness is asked and told to health watchers. */
  healthIntervalMs?: number
  /** Pause between NOT_SERVING and the end of new calls, so that load balancers notice. */
  probePeriodMs?: number
  /** How long calls under way may take once draining has begun. */
  drainTimeoutMs: number
}

export interface GrpcServer {
  /** The port in use, also when 0 was asked for. */
  port: number
  /** NOT_SERVING → a probe period → no new calls, streams end → calls under way finish → what is left is cut. */
  close: () => Promise<void>
}

const requestBytesMax = 4 * 1024 * 1024
const minuteMs = 60_000

const channelOptions = ({ connectionAgeMsMax, connectionAgeGraceMs }: GrpcServerOptions) => ({
  'grpc.max_receive_message_length': requestBytesMax,
  // It would count every call once more, for a service of the library's own that is not served here.
  'grpc.enable_channelz': 0,
  'grpc.keepalive_time_ms': minuteMs,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.max_connection_idle_ms': 2 * minuteMs,
  'grpc.max_connection_age_ms': connectionAgeMsMax ?? 5 * minuteMs,
  'grpc.max_connection_age_grace_ms': connectionAgeGraceMs ?? 70_000,
})

/**
 * Serves gRPC with health for `""` and every service, following readiness, and reflection.
 *
 * @throws Error when the address is in use or the certificates do not fit
 */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  const streams = createOpenStreams()
  const figures = createCallFigures(options.logger, options.metrics)
  const interceptors = [streams.interceptor, observe(figures)]
  const server = new Server({ ...channelOptions(options), interceptors })
  for (const { definition, implementation } of options.services) server.addService(definition, implementation)
  createReflection(options.descriptorSet).addToServer(server)

  const tls = options.tls && createReloadingCredentials(options.tls, options.logger)
  const stopHealth = serveHealth(server, options)
  const port = await bind(server, options, tls?.credentials ?? ServerCredentials.createInsecure())
  const inside = insideOf(server)
  const methods = unaryMethods(options.services, figures)
  for (const http2Server of inside?.http2Servers.keys() ?? []) {
    keepStreamsYoung(http2Server)
    answerDirectly(http2Server, methods, (stream) => inside?.onStreamOpened(stream))
  }
  return {
    port,
    close: async () => {
      stopHealth()
      await new Promise((resolve) => setTimeout(resolve, options.probePeriodMs ?? 500))
      server.drain(`${options.host}:${port}`, options.drainTimeoutMs)
      streams.end()
      await shutDown(server, options.drainTimeoutMs)
      tls?.close()
    },
  }
}

function unaryMethods(services: GrpcService[], figures: CallFigures): Map<string, DirectMethod> {
  const methods = services.flatMap(({ definition, implementation }) =>
    Object.entries(definition)
      .filter(([, { requestStream, responseStream }]) => !requestStream && !responseStream)
      .map(([name, { path, requestDeserialize, responseSerialize }]): [string, DirectMethod] => [
        path,
        {
          path,
          requestDeserialize,
          responseSerialize,
          method: implementation[name] as DirectMethod['method'],
          noteEnd: figures(path),
          requestBytesMax,
        },
      ]),
  )
  return new Map(methods)
}

/** Publishes readiness as serving status; returns how to declare NOT_SERVING for good. */
function serveHealth(server: Server, { services, health, healthIntervalMs = 1000 }: GrpcServerOptions) {
  const names = ['', ...services.map(({ name }) => name)]
  const served = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])))
  served.addToServer(server)
  let current: 'SERVING' | 'NOT_SERVING' = 'NOT_SERVING'
  const publish = (status: typeof current) => {
    if (status === current) return
    current = status
    for (const name of names) served.setStatus(name, status)
  }
  let stopped = false
  const refresh = async () => {
    const { ready } = await health.readiness()
    if (!stopped) publish(ready ? 'SERVING' : 'NOT_SERVING')
  }
  const timer = setInterval(() => void refresh(), healthIntervalMs)
  void refresh()
  return () => {
    stopped = true
    clearInterval(timer)
    publish('NOT_SERVING')
  }
}

const bind = (server: Server, { host, port }: GrpcServerOptions, credentials: ServerCredentials) =>
  new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })

/** A call that never ends must not keep the process, so waiting for the calls under way has a limit. */
async function shutDown(server: Server, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([new Promise<void>((resolve) => server.tryShutdown(() => resolve())), timeout])
  clearTimeout(timer)
  server.forceShutdown()
}
