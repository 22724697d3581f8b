import { type Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js'
import type { Logger, Metrics } from '../observability/index.js'
import type { AuthContext, Caller } from './caller.js'
import type { MarkedCallers } from './marked-callers.js'

type NextCall = ConstructorParameters<typeof ServerInterceptingCall>[0]
type Listener = Parameters<ServerInterceptingCall['start']>[0]
type CallStatus = Parameters<ServerInterceptingCall['sendStatus']>[0]

const unobserved = ['/grpc.health.v1.Health/', '/grpc.reflection.']

/** Notes the end of a call: its status code by name, and how long it took. */
export type NoteEnd = (code: string, milliseconds: number) => void

/** Gives what notes the ends of one method's calls; null for methods that are left out. */
export type CallFigures = (path: string) => NoteEnd | null

/**
 * Counts and times every call by method and status code; logs those that did not end with OK. Health
 * and reflection calls are left out, and payloads never reach a log line.
 */
export function createCallFigures(logger: Logger, metrics: Metrics): CallFigures {
  const methods = new Map<string, NoteEnd | null>()
  return (path) => {
    let noteEnd = methods.get(path)
    if (noteEnd === undefined) {
      const isObserved = !unobserved.some((prefix) => path.startsWith(prefix))
      noteEnd = isObserved ? noteEndOf(path, logger, metrics) : null
      methods.set(path, noteEnd)
    }
    return noteEnd
  }
}

/** Only methods that are served come here, so the values of the label are few. */
function noteEndOf(method: string, logger: Logger, metrics: Metrics): NoteEnd {
  return (code, milliseconds) => {
    metrics.grpcCall({ method, code }, milliseconds / 1000)
    if (code !== 'OK') {
      logger.info({ method, code, duration_ms: Math.round(milliseconds * 1000) / 1000 }, 'call')
    }
  }
}

/** Tells the figures of the calls that the library hands to methods, and the methods whose they are. */
export const observe =
  (figures: CallFigures, callers: MarkedCallers): ServerInterceptor =>
  ({ path }, call) => {
    const noteEnd = figures(path)
    return noteEnd === null ? new ServerInterceptingCall(call) : new ObservedCall(call, noteEnd, callers)
  }

/** Stands between a call and its handler, as the call of the one and the listener of the other. */
class ObservedCall extends ServerInterceptingCall {
  readonly #call: NextCall
  readonly #noteEnd: NoteEnd
  readonly #callers: MarkedCallers
  #caller: Caller | undefined
  readonly #startedMs = performance.now()
  #listener: Listener | undefined
  #finished = false

  constructor(call: NextCall, noteEnd: NoteEnd, callers: MarkedCallers) {
    super(call)
    this.#callers = callers
    this.#call = call
    this.#noteEnd = noteEnd
  }

  override start(listener: Listener): void {
    this.#listener = listener
    this.#call.start(this)
  }

  override getAuthContext(): AuthContext {
    return this.#caller?.authContext ?? this.#call.getAuthContext()
  }

  override getPeer(): string {
    return this.#caller?.peer ?? this.#call.getPeer()
  }

  override sendMetadata(metadata: Metadata): void {
    this.#call.sendMetadata(metadata)
  }

  override sendMessage(message: unknown, callback: () => void): void {
    this.#call.sendMessage(message, callback)
  }

  override sendStatus(result: CallStatus): void {
    this.#end(status[result.code ?? status.UNKNOWN] ?? 'UNKNOWN')
    this.#call.sendStatus(result)
  }

  onReceiveMetadata(metadata: Metadata): void {
    this.#caller = this.#callers.takeFrom(metadata)
    this.#listener?.onReceiveMetadata(metadata)
  }

  onReceiveMessage(message: unknown): void {
    this.#listener?.onReceiveMessage(message)
  }

  onReceiveHalfClose(): void {
    this.#listener?.onReceiveHalfClose()
  }

  onCancel(): void {
    // Told of every call. The library ends one whose deadline passes by itself and tells only that it is over.
    if (!this.#finished)
      this.#end(Date.now() >= Number(this.#call.getDeadline()) ? 'DEADLINE_EXCEEDED' : 'CANCELLED')
    this.#listener?.onCancel()
  }

  #end(code: string): void {
    if (this.#finished) return
    this.#finished = true
    this.#noteEnd(code, performance.now() - this.#startedMs)
  }
}
