import { Metadata, status } from '@grpc/grpc-js'
import { encodeFields, type RequestHeaders, type Stream, type StreamReader } from '../http2/index.js'
import type { AuthContext, Caller } from './caller.js'
import type { NoteEnd } from './observe.js'
import type { UnaryCall, UnaryMethod } from './unary-call.js'

/** A unary method as calls of it are read and answered. */
export interface DirectMethod {
  path: string
  requestDeserialize: (bytes: Buffer) => unknown
  responseSerialize: (response: unknown) => Buffer
  method: UnaryMethod<unknown, unknown>
  noteEnd: NoteEnd | null
  requestBytesMax: number
}

type Failure = Parameters<Parameters<UnaryMethod<unknown, unknown>>[1]>[0]

/** A message is preceded by a byte that says whether it is compressed, and four for its length. */
const prefixBytes = 5

const responseHead = encodeFields([
  [':status', '200'],
  ['content-type', 'application/grpc+proto'],
  ['grpc-accept-encoding', 'identity,deflate,gzip'],
])
const okTrailers = encodeFields([
  ['grpc-status', '0'],
  ['grpc-message', 'OK'],
])

/**
 * One unary call, read from its HTTP/2 stream and answered on it. It ends once: with an answer, when its
 * deadline passes, or when the caller goes.
 */
export class DirectCall implements UnaryCall<unknown>, StreamReader {
  readonly metadata: Metadata
  request: unknown
  cancelled = false
  readonly #stream: Stream
  readonly #caller: Caller
  readonly #method: DirectMethod
  readonly #startedMs = performance.now()
  #deadlineMs = Number.POSITIVE_INFINITY
  #deadlineTimer: NodeJS.Timeout | undefined
  #parts: Buffer[] = []
  #bytes = 0
  #isOver = false

  constructor(stream: Stream, headers: RequestHeaders, method: DirectMethod, caller: Caller) {
    this.#stream = stream
    this.#method = method
    this.#caller = caller
    this.metadata = Metadata.fromHttp2Headers(headers)
    const timeout = headers['grpc-timeout']
    if (timeout !== undefined) this.#endIn(timeout)
  }

  getPath(): string {
    return this.#method.path
  }

  getDeadline(): number {
    return this.#deadlineMs
  }

  getAuthContext(): AuthContext {
    return this.#caller.authContext
  }

  getPeer(): string {
    return this.#caller.peer
  }

  #endIn(timeout: string): void {
    const timeoutMs = timeoutMsOf(timeout)
    if (timeoutMs === null) {
      this.#fail(status.INTERNAL, `Invalid grpc-timeout value "${timeout}"`)
      return
    }
    this.#deadlineMs = Date.now() + timeoutMs
    this.#deadlineTimer = setTimeout(() => {
      this.cancelled = true
      this.#fail(status.DEADLINE_EXCEEDED, 'Deadline exceeded')
    }, timeoutMs)
  }

  onData(part: Buffer): void {
    if (this.#isOver) return
    this.#stream.use(part.length)
    this.#bytes += part.length
    const announced = this.#parts.length === 0 && part.length >= prefixBytes ? part.readUInt32BE(1) : 0
    const bytes = Math.max(announced, this.#bytes - prefixBytes)
    const { requestBytesMax } = this.#method
    if (bytes > requestBytesMax) {
      this.#fail(
        status.RESOURCE_EXHAUSTED,
        `Received message larger than max (${bytes} vs ${requestBytesMax})`,
      )
    } else this.#parts.push(part)
  }

  onEnd(): void {
    if (this.#isOver) return
    const { path, method, requestDeserialize } = this.#method
    const [first, ...more] = this.#parts
    // Most messages come in one part, which is kept as it is.
    const body = first === undefined || more.length > 0 ? Buffer.concat(this.#parts) : first
    this.#parts = []
    if (body.length < prefixBytes || body.length < prefixBytes + body.readUInt32BE(1)) {
      this.#fail(status.UNIMPLEMENTED, `Received no request message for method ${path}`)
      return
    }
    if (body.length > prefixBytes + body.readUInt32BE(1)) {
      this.#fail(status.UNIMPLEMENTED, `Received a second request message for method ${path}`)
      return
    }
    if (body[0] !== 0) {
      this.#fail(status.INTERNAL, 'Received a compressed message without an encoding')
      return
    }
    try {
      this.request = requestDeserialize(body.subarray(prefixBytes))
    } catch {
      this.#fail(status.INTERNAL, 'Error deserializing request')
      return
    }
    try {
      method(this, (failure, response) => this.#answer(failure, response))
    } catch {
      this.#fail(status.UNKNOWN, 'Unknown error')
    }
  }

  #answer(failure: Failure, response: unknown): void {
    if (failure !== null) {
      this.#fail(failure.code ?? status.UNKNOWN, failure.details ?? 'Unknown Error', failure.metadata)
      return
    }
    if (this.#isOver) return
    let message: Buffer
    try {
      message = this.#method.responseSerialize(response)
    } catch {
      this.#fail(status.INTERNAL, 'Error serializing response')
      return
    }
    if (!this.#end('OK')) return
    const stream = this.#stream
    const body = Buffer.allocUnsafe(prefixBytes + message.length)
    body[0] = 0
    body.writeUInt32BE(message.length, 1)
    body.set(message, prefixBytes)
    stream.respond(responseHead)
    stream.write(body)
    stream.end(okTrailers)
  }

  #fail(code: status, details: string, metadata?: Metadata | null): void {
    if (!this.#end(status[code] ?? 'UNKNOWN')) return
    const fields: [string, string][] = [
      [':status', '200'],
      ['content-type', 'application/grpc+proto'],
      ['grpc-status', String(code)],
      // Half of a surrogate pair, which encodeURI throws at, becomes U+FFFD.
      ['grpc-message', encodeURI(Buffer.from(details).toString())],
    ]
    for (const [name, values] of Object.entries(metadata?.toHttp2Headers() ?? {}))
      for (const value of [values ?? []].flat()) fields.push([name, String(value)])
    this.#stream.respond(encodeFields(fields), true)
  }

  onLeave(): void {
    this.cancelled = true
    this.#end('CANCELLED')
  }

  /** @returns whether there is still somebody to answer */
  #end(code: string): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#parts = []
    clearTimeout(this.#deadlineTimer)
    const isGone = this.#stream.isClosed
    this.#method.noteEnd?.(isGone ? this.#codeOfLeaving() : code, performance.now() - this.#startedMs)
    return !isGone
  }

  #codeOfLeaving(): string {
    return Date.now() >= this.#deadlineMs ? 'DEADLINE_EXCEEDED' : 'CANCELLED'
  }
}

const unitMs: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }
/** What a timer can wait; nobody waits longer for an answer. */
const timerMsMax = 2 ** 31 - 1

/** Reads `grpc-timeout`, e.g. `200m`; null when it is no such value. */
function timeoutMsOf(timeout: string): number | null {
  const [, amount, unit = ''] = /^(\d{1,8})\s*([HMSmun])$/.exec(timeout) ?? []
  return amount === undefined ? null : Math.min(Math.ceil(Number(amount) * (unitMs[unit] ?? 0)), timerMsMax)
}
