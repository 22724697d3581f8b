import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  logVerbosity,
  Server,
  type ServiceDefinition,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import { Connection, type ConnectionLimits, limitLifetime, listen } from '../http2/index.js'
import type { Health } from '../lifecycle/index.js'
import type { Logger, Metrics } from '../observability/index.js'
import { Caller } from './caller.js'
import type { DirectMethod } from './direct-call.js'
import { acceptCall } from './direct-calls.js'
import { LibraryCalls } from './library-calls.js'
import { MarkedCallers } from './marked-callers.js'
import { type CallFigures, createCallFigures, observe } from './observe.js'
import { createOpenStreams } from './open-streams.js'
import { createReflection } from './reflection.js'
import { followTls, readTls, type TlsFiles } from './tls.js'

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
  /** How long a connection may be open without a call. */
  connectionIdleMsMax?: number
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

const channelOptions = {
  'grpc.max_receive_message_length': requestBytesMax,
  // It would count every call once more, for a service of the library's own that is not served here.
  'grpc.enable_channelz': 0,
}

const connectionLimits = ({
  connectionAgeMsMax,
  connectionAgeGraceMs,
  connectionIdleMsMax,
}: GrpcServerOptions): ConnectionLimits => ({
  ageMsMax: connectionAgeMsMax ?? 5 * minuteMs,
  ageGraceMs: connectionAgeGraceMs ?? 70_000,
  idleMsMax: connectionIdleMsMax ?? 2 * minuteMs,
  keepaliveMs: minuteMs,
  keepaliveTimeoutMs: 20_000,
})

/**
 * Serves gRPC with health for `""` and every service, following readiness, and reflection.
 *
 * @throws Error when the address is in use or the certificates do not fit
 */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  // Its lines quote metadata that it cannot use, tokens among them.
  setLogVerbosity(logVerbosity.NONE)
  const streams = createOpenStreams()
  const figures = createCallFigures(options.logger, options.metrics)
  const callers = new MarkedCallers()
  const interceptors = [streams.interceptor, observe(figures, callers)]
  const server = new Server({ ...channelOptions, interceptors })
  const library = new LibraryCalls(server, callers)
  for (const { definition, implementation } of options.services) server.addService(definition, implementation)
  createReflection(options.descriptorSet).addToServer(server)

  const methods = unaryMethods(options.services, figures)
  const limits = connectionLimits(options)
  const connections = new Set<Connection>()
  const onSocket = (socket: Socket) => {
    const caller = new Caller(socket)
    const connection = new Connection(socket, (stream, headers) =>
      acceptCall(stream, headers, caller, methods, library),
    )
    limitLifetime(connection, limits)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  }
  const { host, port, tls } = options
  await library.start()
  const listener = await listen({ host, port, onSocket, ...(tls && { tls: readTls(tls) }) })
  const stopFollowing = tls && followTls(tls, options.logger, listener.renew)
  const stopHealth = serveHealth(server, options)
  return {
    port: listener.port,
    close: async () => {
      stopHealth()
      await sleep(options.probePeriodMs ?? 500)
      listener.close()
      for (const connection of connections) connection.drain()
      streams.end()
      await allClosed(connections, options.drainTimeoutMs)
      server.forceShutdown()
      library.close()
      stopFollowing?.()
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

/** A call that never ends must not keep the process, so waiting for the calls under way has a limit. */
async function allClosed(connections: ReadonlySet<Connection>, timeoutMs: number): Promise<void> {
  const limit = new AbortController()
  const closed = [...connections].map(({ socket }) => once(socket, 'close', { signal: limit.signal }))
  const timer = setTimeout(() => limit.abort(), timeoutMs)
  await Promise.allSettled(closed)
  clearTimeout(timer)
  for (const connection of connections) connection.destroy()
}
