import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Express } from 'express'
import { waitForIdleTurn } from '../lifecycle/idle-turn.js'

/** All parameters may come in the query, where each character of a description takes up to twelve bytes. */
const headerBytesMax = 64 * 1024
/**
 * The part of the drain time for which a closing server answers with `Connection: close` before it closes
 * connections itself.
 */
const askToClosePart = 1 / 20

/**
 * Merges each run of slashes in the path of a request target into one, because clients whose base URL ends in
 * a slash send `//api/v4`. An encoded slash (`%2F`) and the query stay as they are.
 */
function mergeSlashes(target: string): string {
  const queryStart = target.indexOf('?')
  const path = queryStart === -1 ? target : target.slice(0, queryStart)
  if (!path.includes('//')) return target
  return path.replaceAll(/\/+/g, '/') + target.slice(path.length)
}

export interface HttpServer {
  /** The port in use, which the system chose when port 0 was requested. */
  port: number
  /**
   * Stops accepting connections, lets active requests finish, and cuts the remaining ones after the timeout.
   */
  close: () => Promise<void>
}

/**
 * Starts an HTTP server.
 *
 * @param drainTimeoutMs how long active requests may take once closing has begun
 * @throws Error when the address is in use
 */
export async function listen(
  app: Express,
  host: string,
  port: number,
  drainTimeoutMs: number,
): Promise<HttpServer> {
  let isClosing = false
  const server = createServer({ maxHeaderSize: headerBytesMax }, (request, response) => {
    if (isClosing) response.setHeader('Connection', 'close')
    request.url = mergeSlashes(request.url ?? '/')
    app(request, response)
  }).listen(port, host)
  answerUnreadableRequests(server)
  // A slow push is legitimate. Idle connections live longer than those of the gateway.
  server.requestTimeout = 0
  server.keepAliveTimeout = 75_000
  await once(server, 'listening')
  const close = async () => {
    isClosing = true
    await delay(drainTimeoutMs * askToClosePart)
    await closeServer(server, drainTimeoutMs)
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/**
 * Closes a server whose answers have asked for `Connection: close` for some time. Closing an idle connection
 * may lose a request that the proxy is sending, and a proxy may not repeat a POST. By this time, the proxy
 * has closed the connections that it uses.
 */
async function closeServer(server: Server, drainTimeoutMs: number): Promise<void> {
  let isClosed = false
  const closed = once(server, 'close').then(() => {
    isClosed = true
  })
  const waitMsMax = drainTimeoutMs / 4
  const cut = setTimeout(() => server.closeAllConnections(), drainTimeoutMs)
  await waitForIdleTurn(waitMsMax)
  server.close()
  while (!isClosed) {
    await Promise.race([closed, delay(50)])
    await waitForIdleTurn(waitMsMax)
    server.closeIdleConnections()
  }
  clearTimeout(cut)
}

/**
 * Time for a client to read the answer to a request that the parser refuses, before its connection is cut.
 */
const lingerMs = 2_000

const statuses: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Answers requests that the HTTP parser refuses. A connection that is closed while the client still sends is
 * reset, and the client may then miss the answer. So the bytes of the client are discarded for a moment. A
 * connection with another answer in progress is cut, because the bytes of this answer would become a part of
 * that one.
 */
export function answerUnreadableRequests(server: Server): void {
  const answering = new WeakSet<Duplex>()
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answering.add(socket)
    response.once('close', () => answering.delete(socket))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The answer has already begun when the parser refuses the bytes that follow.
    if (socket.writableEnded && !socket.destroyed) return
    if (!socket.writable || answering.has(socket)) return void socket.destroy()
    const status = statuses[error.code ?? ''] ?? '400 Bad Request'
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  })
}
