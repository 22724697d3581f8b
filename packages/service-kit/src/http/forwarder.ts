import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Readable } from 'node:stream'
import { unavailable } from '@switchyard/domain'
import { createProxyServer } from 'http-proxy-3'
import type { Call } from './endpoint.js'

/** A request with this header was forwarded once, and is not forwarded again. */
export const forwardedHeader = 'x-switchyard-forwarded-by'

/** Time after which a client may repeat a request that could not be forwarded. */
export const forwardRetryMs = 2_000

const connectMsMax = 5_000

/** Another process that answers a request. */
export interface Upstream {
  /** In answers, such as `the storage second`. */
  name: string
  /** `http://host:port` */
  address: string
}

export interface Forwarder {
  /**
   * Forwards a request to another process, unchanged, and its answer to the client.
   *
   * @param body replaces the body of the request, where it has been read already
   * @throws DomainError unavailable when the upstream does not answer
   */
  forward: (
    call: Pick<Call, 'requestId' | 'raw'>,
    upstream: Upstream,
    body?: Readable | undefined,
  ) => Promise<void>
  close: () => void
}

/** @param own name of this process, which the upstream gets in `forwardedHeader` */
export function createForwarder(own: string): Forwarder {
  const agents = { 'http:': new Agent({ keepAlive: true }), 'https:': new TlsAgent({ keepAlive: true }) }
  const proxy = createProxyServer({ toProxy: true })
  proxy.on('proxyReq', (forwarded, request, response, _options, socket) => {
    if (socket.connecting) {
      const timer = setTimeout(() => forwarded.destroy(new Error('no connection in time')), connectMsMax)
      socket.once('connect', () => clearTimeout(timer))
      forwarded.once('close', () => clearTimeout(timer))
    }
    // The rest of a body that arrives after the answer is read and discarded in this process.
    response.once('close', () => {
      if (!request.complete || !response.writableFinished) forwarded.destroy()
    })
  })
  // An incomplete answer must not look complete to the client.
  proxy.on('proxyRes', (answer, _request, response) => {
    answer.once('error', () => response.destroy())
    answer.once('aborted', () => response.destroy())
  })

  return {
    forward({ raw: { request, response }, requestId }, { name, address }, body) {
      const target = new URL(address)
      const { headers, socket } = request
      headers[forwardedHeader] = own
      headers['x-request-id'] = requestId
      headers['x-forwarded-for'] = [headers['x-forwarded-for'], socket.remoteAddress]
        .filter(Boolean)
        .join(', ')
      // The client has received `100 Continue` already.
      delete headers.expect
      return new Promise<void>((resolve, reject) => {
        response.once('close', resolve)
        const agent = agents[target.protocol as keyof typeof agents]
        proxy.web(request, response, { target, agent, ...(body && { buffer: body }) }, (cause) => {
          if (response.headersSent) response.destroy()
          else reject(unavailable(`${name} does not answer`, { cause, retryAfterMs: forwardRetryMs }))
        })
      })
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
