import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import type { Express } from 'express'
import { answerUnreadableRequests } from './unreadable-requests.js'

/** All parameters may come in the query, where each character of a description takes up to twelve bytes. */
const headerBytesMax = 64 * 1024
/** The part of the drain time for which a closing server answers with `Connection: close` before it closes connections itself. */
const askToClosePart = 1 / 20

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
  let isClosing = false
  const server = createServer({ maxHeaderSize: headerBytesMax }, (request, response) => {
    if (isClosing) response.setHeader('Connection', 'close')
    request.url = mergeSlashes(request.url ?? '/')
    app(request, response)
  }).listen(port, host)
  answerUnreadableRequests(server)
  // A slow push is legitimate; idle connections outlive those of the gateway in front.
  server.requestTimeout = 0
  server.keepAliveTimeout = 75_000
  await once(server, 'listening')
  const close = async () => {
    isClosing = true
    await sleep(drainTimeoutMs * askToClosePart)
    await closeServer(server, drainTimeoutMs)
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/**
 * Closes a server whose answers have asked for `Connection: close` for a while. Closing an idle connection may lose a request that
 * the proxy is sending, and a proxy may not repeat a POST; by now, the proxy has closed the connections that it uses.
 */
async function closeServer(server: Server, drainTimeoutMs: number): Promise<void> {
  const closed = once(server, 'close')
  // Requests that have arrived are read before idle connections are closed.
  await nextTick()
  server.close()
  const sweep = setInterval(async () => {
    await nextTick()
    server.closeIdleConnections()
  }, 50)
  const cut = setTimeout(() => server.closeAllConnections(), drainTimeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}
