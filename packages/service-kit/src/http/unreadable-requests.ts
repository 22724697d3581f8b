import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Time for a client to read the answer to a request that the parser refuses, before its connection is cut. */
const lingerMs = 2_000

const statuses: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Answers requests that the HTTP parser refuses. A connection that is closed while the client still sends is reset, and the
 * client may then never see the answer; so what the client sends is discarded for a moment. A connection with another answer
 * under way is cut, because the bytes of this answer would become a part of that one.
 */
export function answerUnreadableRequests(server: Server): void {
  const answering = new WeakSet<Duplex>()
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.add(socket)
    response.once('close', () => answering.delete(socket))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The answer is under way already when the parser refuses the bytes that follow.
    if (socket.writableEnded && !socket.destroyed) return
    if (!socket.writable || answering.has(socket)) return void socket.destroy()
    const status = statuses[error.code ?? ''] ?? '400 Bad Request'
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  })
}
