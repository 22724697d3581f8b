import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { type Server, ServerCredentials } from '@grpc/grpc-js'
import {
  encodeFields,
  errorCodes,
  noReader,
  type RequestHeaders,
  type Stream,
  type StreamReader,
} from '../http2/index.js'
import type { Caller } from './caller.js'
import { InnerSockets } from './inner-sockets.js'
import { callerHeader, type MarkedCallers } from './marked-callers.js'

type Fields = Record<string, string | string[] | number | undefined>

/**
 * Hands calls to the library's server, over a connection within the process for each one to the outside: streams,
 * compressed messages, and whatever is not known here.
 */
export class LibraryCalls {
  readonly #sockets: InnerSockets
  readonly #callers: MarkedCallers
  readonly #sessions = new WeakMap<Caller, { mark: string; session: ClientHttp2Session }>()

  constructor(server: Server, callers: MarkedCallers) {
    this.#callers = callers
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
    this.#sockets = new InnerSockets((socket) => injector.injectConnection(socket))
  }

  /** To be awaited before the first call. */
  start(): Promise<void> {
    return this.#sockets.listen()
  }

  close(): void {
    this.#sockets.close()
  }

  open(stream: Stream, headers: RequestHeaders, caller: Caller): StreamReader {
    const { mark, session } = this.#sessionOf(caller)
    try {
      const request = session.request({ ...headers, [callerHeader]: mark }, { endStream: false })
      return new LibraryCall(stream, request)
    } catch {
      // node:http2 refuses some more fields than RFC 9113 does.
      stream.reset(errorCodes.protocolError)
      return noReader
    }
  }

  #sessionOf(caller: Caller) {
    const open = this.#sessions.get(caller)
    if (open !== undefined && !open.session.closed && !open.session.destroyed) return open
    const session = connect('http://localhost', {
      createConnection: () => this.#sockets.connect(),
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    })
    session.on('error', ignore)
    const mark = this.#callers.add(caller)
    const end = () => session.destroy()
    caller.socket.once('close', end)
    session.once('close', () => {
      caller.socket.off('close', end)
      this.#callers.delete(mark)
    })
    const entry = { mark, session }
    this.#sessions.set(caller, entry)
    return entry
  }
}

/** Carries one call to the library and its answer back, each side no faster than the other takes it. */
class LibraryCall implements StreamReader {
  readonly #stream: Stream
  readonly #request: ClientHttp2Stream
  #trailers: Fields = {}

  constructor(stream: Stream, request: ClientHttp2Stream) {
    this.#stream = stream
    this.#request = request
    request.on('error', ignore)
    request.on('response', (headers, flags) => {
      stream.respond(encode(headers), (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0)
      // Only now: node:http2 tells of headers in a later turn, and hands out what follows them before it if asked to.
      request.on('data', (bytes: Buffer) => {
        if (!stream.write(bytes)) request.pause()
      })
    })
    request.on('trailers', (trailers) => {
      this.#trailers = trailers
    })
    request.on('close', () => this.#finish())
  }

  onData(bytes: Buffer): void {
    this.#request.write(bytes, () => this.#stream.use(bytes.length))
  }

  onEnd(): void {
    this.#request.end()
  }

  /** Closing would end the request first, which the library would then take for a whole one. */
  onLeave(): void {
    this.#request.destroy(new Error('the caller has gone'))
  }

  onDrain(): void {
    this.#request.resume()
  }

  /** Told once all was read. */
  #finish(): void {
    const { rstCode } = this.#request
    if (rstCode !== errorCodes.noError) this.#stream.reset(rstCode)
    else this.#stream.end(encode(this.#trailers))
  }
}

function encode(fields: object): Buffer {
  return encodeFields(
    Object.entries(fields as Fields).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, String(one)]),
    ),
  )
}

const ignore = () => {}
