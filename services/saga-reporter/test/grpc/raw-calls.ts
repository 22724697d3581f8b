import { once } from 'node:events'
import { type ClientHttp2Stream, connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { connect as connectSocket } from 'node:net'

/** Returns the bytes of a gRPC message, by default uncompressed and with its actual length. */
export function frame(message: Buffer | string, flag = 0, length?: number): Buffer {
  const bytes = Buffer.from(message)
  const prefix = Buffer.from([flag, 0, 0, 0, 0])
  prefix.writeUInt32BE(length ?? bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

const posted = {
  ':method': 'POST',
  ':path': '/test.Test/Call',
  'content-type': 'application/grpc',
  te: 'trailers',
}

/** Opens a separate connection for calls that no valid client makes. */
export async function connectRaw(port: number) {
  const socket = connectSocket(port, '127.0.0.1')
  const session = connect(`http://127.0.0.1:${port}`, { createConnection: () => socket })
  session.on('error', () => {})
  await once(session, 'connect')
  const open = (headers: OutgoingHttpHeaders = {}) => {
    const stream = session.request({ ...posted, ...headers }, { endStream: false })
    return { stream, answer: answerOf(stream) }
  }
  return {
    session,
    port: socket.localPort,
    open,
    /** Sends a whole call in one write, so that it arrives in one piece. */
    call: (message: Buffer, headers?: OutgoingHttpHeaders) => {
      const { stream, answer } = open(headers)
      stream.end(message)
      return answer
    },
    /** Resolves when everything that was sent before has arrived. */
    ping: () => new Promise((resolve) => session.ping(resolve)),
    /** Cancels a call in the middle of its request, which node:http2 would end first. */
    reset: ({ id }: ClientHttp2Stream) => socket.write(resetOf(id ?? 0)),
    cut: () => socket.destroy(),
    close: () => session.destroy(),
  }
}

/** Returns a frame of RFC 9113: its length, RST_STREAM, no flags, the stream, the reason. */
function resetOf(stream: number): Buffer {
  const bytes = Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0, constants.NGHTTP2_CANCEL])
  bytes.writeUInt32BE(stream, 5)
  return bytes
}

/** Sends each part in a separate frame. */
export async function sendApart(stream: ClientHttp2Stream, parts: Iterable<Buffer>): Promise<void> {
  for (const part of parts) await new Promise((resolve) => stream.write(part, resolve))
}

/** Collects the answer until the server ends it, or until the stream is closed without an end. */
function answerOf(stream: ClientHttp2Stream) {
  const parts: Buffer[] = []
  const answer = {
    headers: {} as Record<string, unknown>,
    /** Whether there were only headers: gRPC's trailers-only. */
    isHeadersOnly: false,
    trailers: {} as Record<string, unknown>,
    /** The status of gRPC, as text. */
    status: undefined as unknown,
    details: undefined as string | undefined,
    body: Buffer.alloc(0),
    /** The message in the body; empty without a body. */
    text: '',
  }
  stream.on('response', (headers, flags) => {
    answer.headers = { ...headers }
    answer.isHeadersOnly = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
  })
  stream.on('trailers', (trailers) => {
    answer.trailers = { ...trailers }
  })
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('error', () => {})
  return new Promise<typeof answer>((resolve) => {
    const finish = () => {
      const { 'grpc-status': status, 'grpc-message': message } = { ...answer.headers, ...answer.trailers }
      const body = Buffer.concat(parts)
      const details = message === undefined ? undefined : decodeURIComponent(String(message))
      resolve({ ...answer, status, details, body, text: String(body.subarray(5)) })
    }
    stream.on('end', finish)
    stream.on('close', finish)
  })
}
