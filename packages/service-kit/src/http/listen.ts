import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { Express } from 'express'
import { messagesOf } from './messages.js'
import { answerUnreadableRequests } from './unreadable-requests.js'

/** All parameters may come in the query, where each character of a description takes up to twelve bytes. */
const headerBytesMax = 64 * 1024
/** A closing server closes idle connections once it has got no request for this part of the time that it has. */
const quietPart = 1 / 20

/**
 * The target of a request with each run of slashes in its path made one slash, as clients whose base URL ends in a slash
 * send `//api/v4`. An encoded slash (`%2F`) and the query stay as they are.
 */
function mergeSlashes(target: string): string {
  const queryStart = target.indexOf('?')
  const path = queryStart === -1 ? target : target.slice(0, queryStart)
  if (!path.includes('//')) return target
  return path.replaceAll(/\/+/g, '/') + target.slice(path.length)
}

export interface HttpServer {
  /** The port in use, which the system chose when 0 was asked for. */
  port: number
  /** Stops accepting, lets requests under way finish, cuts what is left after the timeout. */
  close: () => Promise<void>
}

/**
 * @param drainTimeoutMs how long requests under way may take once closing has begun
 * @throws Error when the address is in use
 */
export async function listen(
  app: Express,
  host: string,
  port: number,
  drainTimeoutMs: number,
): Promise<HttpServer> {
  let lastRequestMs = 0
  const server = createServer({ maxHeaderSize: headerBytesMax, ...messagesOf(app) }, (request, response) => {
    lastRequestMs = performance.now()
    if (!server.listening) response.setHeader('Connection', 'close')
    request.url = mergeSlashes(request.url ?? '/')
    app(request, response)
  }).listen(port, host)
  answerUnreadableRequests(server)
  // A slow push is legitimate; idle connections outlive those of the gateway in front.
  server.requestTimeout = 0
  server.keepAliveTimeout = 75_000
  await once(server, 'listening')
  const isQuiet = () => performance.now() - lastRequestMs > drainTimeoutMs * quietPart
  return { port: (server.address() as AddressInfo).port, close: () => close(server, isQuiet, drainTimeoutMs) }
}

/**
 * A proxy in front may send a request on an idle connection while it is being closed, and may not repeat a POST. So the
 * connections that it uses are closed by it, after an answer that asks for that, and only those that it does not use are closed here.
 * Whatever is closed, is closed right after all that has arrived was read (setImmediate).
 */
async function close(server: Server, isQuiet: () => boolean, drainTimeoutMs: number): Promise<void> {
  const closed = once(server, 'close')
  await setImmediate()
  // That of an HTTP server closes idle connections at once.
  NetServer.prototype.close.call(server)
  const sweep = setInterval(async () => {
    await setImmediate()
    if (isQuiet()) server.closeIdleConnections()
  }, 50)
  const cut = setTimeout(() => server.closeAllConnections(), drainTimeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}
