import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, beforeEach } from 'vitest'
import { type RunningGateway, startGateway } from '../../src/gateway/gateway.js'
import type { Route } from '../../src/gateway/routing-table.js'

const routes: Route[] = [
  { match: 'prefix', path: '/metrics', service: null },
  { match: 'prefix', path: '/down', service: 'down' },
  { match: 'prefix', path: '/', service: 'up' },
]

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export const echo: Answer = (incoming, response) =>
  response.end(JSON.stringify({ url: incoming.url, headers: incoming.headers }))

/** Parses the JSON in an answer that was read as text. */
export const bodyOf = (text: string) => JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))

/** Starts a gateway for each test of the file, in front of a running service and of one that does not run. */
export function startGatewayForEach() {
  let upstream: Server
  let running: RunningGateway
  const gateway = {
    /** The answer of the running service. */
    answer: echo,
    /** Addresses of trusted proxies. */
    trusted: [] as string[],
    get port() {
      return running.port
    },
    url: (path: string) => `http://127.0.0.1:${running.port}${path}`,
    /** Sends bytes unchanged, which ask for the connection to be closed, and returns the whole answer. */
    async sendBytes(bytes: string): Promise<string> {
      const socket = connect(running.port, '127.0.0.1')
      socket.write(bytes)
      let text = ''
      for await (const chunk of socket.setEncoding('utf8')) text += chunk
      return text
    },
  }
  beforeEach(async () => {
    Object.assign(gateway, { answer: echo, trusted: [] })
    upstream = createServer({ requestTimeout: 0 }, (incoming, response) => gateway.answer(incoming, response))
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    running = await startGateway({
      host: '127.0.0.1',
      port: 0,
      routes,
      trustsProxy: (address) => gateway.trusted.includes(address),
      portOf: (service) => (service === 'up' ? port : 1),
    })
  })
  afterEach(async () => {
    await running.stop()
    upstream.closeAllConnections()
    upstream.close()
  })
  return gateway
}
