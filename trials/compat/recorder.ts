import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createProxyServer } from 'http-proxy-3'

/** One request of a tool, with its answer. */
export interface Call {
  method: string
  /** The address with the query, as the tool sent it. */
  url: string
  status: number
}

export interface Recorder {
  /** The calls so far, in the order of the answers. */
  calls: Call[]
  stop(): Promise<void>
}

/** Forwards every request from one loopback port to another unchanged, and records it with its answer. */
export async function startRecorder(port: number, targetPort: number): Promise<Recorder> {
  const calls: Call[] = []
  const agent = new Agent({ keepAlive: true })
  const proxy = createProxyServer({ agent, toProxy: true })
  proxy.on('error', (_error, _request, response) => response.destroy())
  // It closes no connection that the installation would keep, because a tool that is sending on it would
  // fail.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 600_000 }, (request, response) => {
    const { method = '', url = '' } = request
    response.once('close', () => calls.push({ method, url, status: response.statusCode }))
    proxy.web(request, response, { target: { host: '127.0.0.1', port: targetPort } })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  if ((server.address() as AddressInfo).port !== port) throw new Error(`port ${port} is taken`)
  return {
    calls,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      agent.destroy()
    },
  }
}

/** Returns a call without the parts that differ between runs: `GET /projects/:id/labels`. */
export function describeCall({ method, url, status }: Call, projects: string[]): string {
  const [path = ''] = url.split('?')
  let text = path.replace(/^\/api\/v4/, '')
  for (const project of projects)
    text = text.replaceAll(project, ':project').replaceAll(encodeURIComponent(project), ':id')
  text = text
    .replace(/\b[0-9a-f]{40}\b/g, ':sha')
    .replace(/\bproject-\d+\b/g, ':name')
    .replace(/^\/projects\/\d+(?=\/|$)/, '/projects/:id')
    .replace(/\/\d+(?=\/|$)/g, '/:number')
  return `${method} ${text} ${status}`
}
