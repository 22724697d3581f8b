import {
  logVerbosity,
  ServerInterceptingCall,
  type ServerInterceptor,
  setLogger,
  setLogVerbosity,
  status,
} from '@grpc/grpc-js'
import { tooLarge, unavailable } from '@switchyard/domain'
import { senderAddress } from '@switchyard/service-kit/http'
import { type Logger, type Metrics, secondsBuckets } from '@switchyard/service-kit/observability'
import { Counter, Histogram } from 'prom-client'
import {
  type AdmittedMessage,
  type ArrivedCall,
  failureOf,
  type GrpcService,
  isExpected,
  isPastDeadline,
  OversizedRequest,
} from './grpc.js'
import type { MessageSlot, MessageSlots } from './message-slots.js'

type NextCall = ConstructorParameters<typeof ServerInterceptingCall>[0]
type Status = Parameters<NextCall['sendStatus']>[0]
type Responder = NonNullable<ConstructorParameters<typeof ServerInterceptingCall>[1]>

export interface InterceptorOptions {
  services: readonly GrpcService[]
  /** Refuses calls for reasons that do not depend on the method. */
  checkArrived: (call: ArrivedCall) => void
  /** Returns the address of a caller; `peer` is `host:port` of the other end of the connection. */
  addressOf: (metadata: ArrivedCall['metadata'], peer: string) => string
  messageSlots: {
    /** For calls that `admit` of their service has admitted. */
    admitted: MessageSlots
    /** For the calls of health and reflection, which are open to every caller. */
    open: MessageSlots
  }
  logger: Logger
  metrics: Pick<Metrics, 'registry'>
}

export interface Interceptor {
  interceptor: ServerInterceptor
  /** Ends every current and future stream with UNAVAILABLE, so that clients connect to another replica. */
  endStreams: () => void
}

/**
 * Creates the interceptor for every call. It admits a call when its headers arrive: a refused call is
 * answered before its message is read; the message of an admitted call is read once there is a slot for it,
 * and reaches the method with the result of `admit`. Every call is counted and timed by method and status
 * code, and a call that does not end with OK is logged, without its payload.
 */
export function createInterceptor(options: InterceptorOptions): Interceptor {
  const { checkArrived, addressOf, messageSlots, logger } = options
  const services = options.services.flatMap(({ definition, admit }) =>
    Object.values(definition).map(({ path }) => [path, admit] as const),
  )
  const admits = new Map<string, GrpcService['admit']>(services)
  const ends = createEnds(options)
  const interceptor: ServerInterceptor = (method, call) => {
    const { path } = method
    const peer = call.getPeer()
    const droppedKeys = takeDroppedKeys()
    // Health and reflection are open to every caller that reaches the port, such as load balancers.
    const admit = admits.get(path)
    const slots = admit ? messageSlots.admitted : messageSlots.open
    const ending = ends.follow(method, call)
    let admitted: unknown
    let slot: MessageSlot | undefined
    /** Exists only when the admission waits, because it costs time. */
    let ended: AbortController | undefined
    let isWhole = false

    /** Returns the sender of the call. */
    const admitArrived = async (metadata: ArrivedCall['metadata']): Promise<string> => {
      // The library lets a call pass whose deadline has passed on arrival, and ends it a moment later.
      if (isPastDeadline(call, Date.now())) throw unavailable('nobody waits for the answer')
      const address = addressOf(metadata, peer)
      const arrived = {
        metadata,
        droppedKeys,
        address,
        getAuthContext: () => call.getAuthContext(),
        signal: () => {
          ended ??= new AbortController()
          return ended.signal
        },
      }
      checkArrived(arrived)
      admitted = await admit?.(arrived)
      return senderAddress(address)
    }
    const refuse = (error: unknown) => {
      if (!isExpected(error) && !isPastDeadline(call, Date.now()))
        logger.error({ err: error, method: path }, 'a call could not be checked')
      ending.end(failureOf(error, call))
    }
    const isClosed = () => call.getPeer() === 'unknown'
    return new ServerInterceptingCall(call, {
      ...ending.responder,
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            admitArrived(metadata).then((sender) => {
              const startReading = () => pass(metadata)
              if (!ending.isOver()) slot = slots.enter({ peer, sender, startReading, isClosed })
            }, refuse)
          },
          onReceiveMessage: (message: unknown, pass) => {
            if (message instanceof OversizedRequest)
              refuse(tooLarge(`a request of this method may have ${message.bytesMax} bytes`))
            else pass(admit ? ({ message, admitted } satisfies AdmittedMessage) : message)
          },
          onReceiveHalfClose: (pass) => {
            isWhole = true
            slot?.leave()
            if (!ending.isOver()) pass()
          },
          onCancel: () => {
            ending.onCancel()
            ended?.abort()
            if (isWhole) return
            if (isClosed()) slot?.leave()
            else slot?.abandon()
          },
        }),
    })
  }
  return { interceptor, endStreams: ends.endStreams }
}

/** Follows calls to their ends: each call is counted once, and all current streams can be ended together. */
function createEnds(options: Pick<InterceptorOptions, 'logger' | 'metrics'>) {
  const observe = createObserve(options)
  const streams = new Set<() => void>()
  let areEnding = false

  function follow({ path, responseStream }: { path: string; responseStream: boolean }, call: NextCall) {
    const count = observe(path)
    /** Set when a status was sent, or the caller has disconnected. */
    let isOver = false
    const over = (code: string) => {
      if (isOver) return false
      isOver = true
      streams.delete(endStream)
      count(code)
      return true
    }
    const end = (result: Status) => {
      if (over(nameOf(result))) call.sendStatus(result)
    }
    function endStream() {
      end({ code: status.UNAVAILABLE, details: 'the server stops' })
    }
    if (responseStream) {
      streams.add(endStream)
      if (areEnding) setImmediate(endStream)
    }
    // A method may still send messages after its stream was ended, but the library would reset the stream
    // then.
    const passUnlessCut = <Part>(part: Part, next: (part: Part) => void) => {
      if (!(responseStream && isOver)) next(part)
    }
    const responder: Responder = {
      sendMetadata: passUnlessCut,
      sendMessage: passUnlessCut,
      sendStatus: (result, next) => {
        if (over(nameOf(result)) || !responseStream) next(result)
      },
    }
    /** The library calls this at the end of every call, including one whose deadline has passed. */
    const onCancel = () => over(isPastDeadline(call, Date.now()) ? 'DEADLINE_EXCEEDED' : 'CANCELLED')
    return { end, onCancel, isOver: () => isOver, responder }
  }
  return {
    follow,
    endStreams: () => {
      areEnding = true
      for (const endStream of streams) endStream()
    },
  }
}

const nameOf = ({ code }: Status): string => status[code ?? status.UNKNOWN] ?? 'UNKNOWN'

const unobserved = ['/grpc.health.v1.Health/', '/grpc.reflection.']

/**
 * Starts timing a call; call the result with the status code. Only known methods get here, so there are few
 * labels.
 */
function createObserve({ logger, metrics }: Pick<InterceptorOptions, 'logger' | 'metrics'>) {
  const shared = { labelNames: ['method', 'code'] as const, registers: [metrics.registry] }
  const duration = new Histogram({
    name: 'grpc_server_handling_seconds',
    help: 'Time from the arrival of a gRPC call to its answer.',
    buckets: secondsBuckets,
    ...shared,
  })
  const handled = new Counter({
    name: 'grpc_server_handled_total',
    help: 'gRPC calls answered, by status code.',
    ...shared,
  })
  return (method: string): ((code: string) => void) => {
    if (unobserved.some((prefix) => method.startsWith(prefix))) return () => {}
    const startedMs = performance.now()
    return (code) => {
      const milliseconds = performance.now() - startedMs
      duration.observe({ method, code }, milliseconds / 1000)
      handled.inc({ method, code })
      if (code !== 'OK')
        logger.info({ method, code, duration_ms: Math.round(milliseconds * 1000) / 1000 }, 'call')
    }
  }
}

/**
 * Matches the beginning of the library's log line about dropped metadata. The value that follows may be a
 * token.
 */
const droppedEntry = /^Failed to add metadata entry ([0-9a-z_.-]+):/

const dropped = new Set<string>()

/**
 * Reads the library's log and prints nothing of it. The library drops metadata beyond printable ASCII and
 * only logs it, immediately before it creates the call.
 */
export function followDroppedKeys(): void {
  setLogger({
    error: (line: unknown) => {
      const key = droppedEntry.exec(String(line))?.[1]
      if (key !== undefined) dropped.add(key)
    },
  })
  setLogVerbosity(logVerbosity.ERROR)
}

const none: readonly string[] = []

/** Returns the keys that the library has dropped from a call. Call it when the call is created. */
function takeDroppedKeys(): readonly string[] {
  if (dropped.size === 0) return none
  const keys = [...dropped]
  dropped.clear()
  return keys
}
