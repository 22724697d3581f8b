import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import grpc, { Server, ServerCredentials } from '@grpc/grpc-js'
import { type Health, repeat, waitForIdleTurn } from '@switchyard/service-kit/lifecycle'
import { type Logger, type Metrics, tracing } from '@switchyard/service-kit/observability'
import { HealthImplementation } from 'grpc-health-check'
import pTimeout from 'p-timeout'
import type { GrpcService } from './grpc.js'
import { createInterceptor, followDroppedKeys, type InterceptorOptions } from './interceptor.js'
import { followTls, listen, readTls, type TlsFiles } from './listen.js'
import { MessageSlots } from './message-slots.js'
import { createReflection, type ServiceAlias } from './reflection.js'

export interface GrpcServerOptions extends Pick<InterceptorOptions, 'checkArrived' | 'addressOf'> {
  host: string
  port: number
  services: GrpcService[]
  /** Serialized FileDescriptorSet of the services, for reflection. */
  descriptorSet: Uint8Array
  /** Services that are also served under a second name. */
  aliases: readonly ServiceAlias[]
  health: Health
  logger: Logger
  metrics: Metrics
  /** Certificates. Unset: no TLS, for a gateway that adds it. */
  tls?: TlsFiles | undefined
  /**
   * Age at which a connection is closed gracefully. Its client connects again, perhaps to a new replica, and
   * receives the newest certificate. Current calls then have `connectionAgeGraceMs` to finish.
   */
  connectionAgeMsMax?: number
  connectionAgeGraceMs?: number
  /** Longest time for which a connection may be open without a call. */
  connectionIdleMsMax?: number
  /** Interval at which readiness is checked and sent to health watchers. */
  healthIntervalMs?: number
  /** Time between NOT_SERVING and the refusal of new calls, so that load balancers notice. */
  probePeriodMs?: number
  /** Longest time for current calls once closing has begun. */
  drainTimeoutMs: number
}

export interface GrpcServer {
  /** The actual port, also when 0 was requested. */
  port: number
  /**
   * Closes in steps: NOT_SERVING → a probe period → no new connections, streams end → each connection is
   * closed when its next call begins, until no call has begun for a while → current calls finish → all
   * connections are closed.
   */
  close: () => Promise<void>
}

const mib = 1024 * 1024
const minuteMs = 60_000

/** Most calls whose messages are read at the same time. A message has up to 4 MiB, so all take 384 MiB. */
const messagesMax = { admitted: 64, open: 32 }

const channelOptions = (options: GrpcServerOptions) => ({
  'grpc.max_receive_message_length': 4 * mib,
  // A canceled call counts until Node has released its stream, so there is room for new calls beside a
  // thousand that a client cancels at once.
  'grpc.max_concurrent_streams': 2048,
  // In MiB. Beyond this limit, further calls of a client that does not read its answers are refused.
  'grpc-node.max_session_memory': 32,
  // Channelz would count every call again for a service that is not served here.
  'grpc.enable_channelz': 0,
  'grpc.keepalive_time_ms': minuteMs,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.max_connection_idle_ms': options.connectionIdleMsMax ?? 2 * minuteMs,
  'grpc.max_connection_age_ms': options.connectionAgeMsMax ?? 5 * minuteMs,
  'grpc.max_connection_age_grace_ms': options.connectionAgeGraceMs ?? 70_000,
})

/**
 * Serves gRPC with reflection, and with health of `""` and every service, which follows readiness.
 *
 * @throws Error when the address is in use or the certificates are invalid
 */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  followDroppedKeys()
  tracing()?.instrumentGrpc(grpc)
  const { host, port, tls, logger, services } = options
  const messageSlots = {
    admitted: new MessageSlots(messagesMax.admitted),
    open: new MessageSlots(messagesMax.open),
  }
  const { interceptor, endStreams } = createInterceptor({ ...options, messageSlots })
  const server = new Server({ ...channelOptions(options), interceptors: [interceptor] })
  for (const { definition, implementation } of services) server.addService(definition, implementation)
  createReflection(options.descriptorSet, options.aliases).addToServer(server)
  const health = serveHealth(server, options)

  // This process has its own listener, because it must be able to close a connection that blocks others.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const sockets = new Set<Socket>()
  const onConnection = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    messageSlots.admitted.add(socket)
    messageSlots.open.add(socket)
    injector.injectConnection(socket)
  }
  const listener = await listen({ host, port, onConnection, ...(tls && { tls: readTls(tls) }) })
  const stopFollowing = tls && followTls(tls, logger, listener.renew)
  return {
    port: listener.port,
    close: async () => {
      health.stop()
      await delay(options.probePeriodMs ?? 500)
      await waitForIdleTurn(options.drainTimeoutMs / 4)
      listener.close()
      endStreams()
      await closeUsedSessions(listener.port, options.drainTimeoutMs)
      const shutDown = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      // Node 24 starts to close the sessions with the server, but the library does not wait for sessions that
      // are closing.
      const closed = [...sockets].map(
        (socket) => new Promise<void>((resolve) => socket.once('close', resolve)),
      )
      // A call that never ends must not keep the process alive.
      await pTimeout(Promise.all([shutDown, ...closed]), {
        milliseconds: Math.max(1, options.drainTimeoutMs),
        message: false,
      })
      for (const socket of sockets) socket.destroy()
      server.forceShutdown()
      stopFollowing?.()
    },
  }
}

interface HealthOptions {
  services: readonly { name: string }[]
  health: Health
  logger: Logger
  /** Interval at which readiness is checked and sent to health watchers. */
  healthIntervalMs?: number
}

/**
 * Publishes readiness as the serving status of `""` and of every service; after `stop` the status stays
 * NOT_SERVING.
 */
function serveHealth(server: Server, { services, health, logger, healthIntervalMs = 1000 }: HealthOptions) {
  const names = ['', ...services.map(({ name }) => name)]
  const served = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])))
  served.addToServer(server)
  let current: 'SERVING' | 'NOT_SERVING' = 'NOT_SERVING'
  const publish = (status: typeof current) => {
    if (status === current) return
    current = status
    for (const name of names) served.setStatus(name, status)
  }
  const refresh = async (signal: AbortSignal) => {
    const { ready } = await health.readiness()
    if (!signal.aborted) publish(ready ? 'SERVING' : 'NOT_SERVING')
  }
  const refreshing = repeat(refresh, healthIntervalMs, (error) =>
    logger.error({ err: error }, 'could not check the readiness'),
  )
  return {
    stop: () => {
      void refreshing.close()
      publish('NOT_SERVING')
    },
  }
}

/**
 * The channel on which Node publishes each stream that begins on a server of this process. The library does
 * not expose its sessions.
 */
const channel = 'http2.server.stream.created'

/**
 * Closes each HTTP/2 session of a port when its next call begins, so that GOAWAY does not cross another call,
 * which a proxy may not repeat: a proxy has one call at a time on a connection. Ends when no call has begun
 * for a twentieth of `timeoutMs`, and after `timeoutMs` at the latest.
 */
async function closeUsedSessions(port: number, timeoutMs: number): Promise<void> {
  const quietMs = timeoutMs / 20
  const deadlineMs = performance.now() + timeoutMs
  let lastCallMs = performance.now()
  const onStream = (message: unknown) => {
    const { session } = (message as { stream: ServerHttp2Stream }).stream
    if (session?.socket.localPort !== port) return
    lastCallMs = performance.now()
    session.close()
  }
  subscribe(channel, onStream)
  try {
    while (performance.now() < Math.min(lastCallMs + quietMs, deadlineMs)) {
      await delay(quietMs / 4)
      // The idle turn ensures that calls that have arrived are noticed before the time is checked.
      await waitForIdleTurn(quietMs)
    }
  } finally {
    unsubscribe(channel, onStream)
  }
}
