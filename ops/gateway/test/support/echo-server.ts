import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Upstream {
  port: number
  close(): Promise<void>
}

/** The request that an echo server received. */
export interface Echo {
  name: string
  method: string
  url: string
  headers: IncomingHttpHeaders
  bodyBytes: number
  /** Port of the connection of the request. */
  clientPort: number
}

/** Starts an HTTP server on loopback. */
export async function startUpstream(
  listener: RequestListener,
  host = '127.0.0.1',
  port = 0,
): Promise<Upstream> {
  const server = createServer(listener).listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Starts a server that answers every request with its content. */
export const startEcho = (name: string, host?: string, port?: number): Promise<Upstream> =>
  startUpstream(
    async (request, response) => {
      let bodyBytes = 0
      for await (const chunk of request) bodyBytes += (chunk as Buffer).length
      const echo: Echo = {
        name,
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        bodyBytes,
        clientPort: request.socket.remotePort ?? 0,
      }
      response.setHeader('Content-Type', 'application/json')
      response.setHeader('X-Request-Id', String(request.headers['x-request-id']))
      response.end(JSON.stringify(echo))
    },
    host,
    port,
  )
