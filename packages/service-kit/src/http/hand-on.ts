import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Readable } from 'node:stream'
import { unavailable } from '@switchyard/domain'
import { createProxyServer } from 'http-proxy-3'
import type { Call } from './endpoint.js'

/** A request with this header was handed on once, and is not handed on again. */
export const forwardedHeader = 'x-switchyard-forwarded-by'

/** When a request that cannot be handed on may be sent again. */
export const handOnRetryMs = 2_000

const connectMsMax = 5_000

/** Another process that answers a request. */
export interface Neighbour {
  /** In answers, such as `the storage second`. */
  name: string
  /** `http://host:port` */
  address: string
}

export interface HandOn {
  /**
   * Has another process answer a request, as it is.
   *
   * @param body stands for the body of the request, when that was read already
   * @throws DomainError unavailable when the other process does not answer
   */
  hand: (
    call: Pick<Call, 'requestId' | 'raw'>,
    neighbour: Neighbour,
    body?: Readable | undefined,
  ) => Promise<void>
  close: () => void
}

/** @param own what the other process is told of the one that asks it */
export function createHandOn(own: string): HandOn {
  const agents = { 'http:': new Agent({ keepAlive: true }), 'https:': new TlsAgent({ keepAlive: true }) }
  const proxy = createProxyServer({ toProxy: true })
  proxy.on('proxyReq', (forwarded, request, response, _options, socket) => {
    if (socket.connecting) {
      const timer = setTimeout(() => forwarded.destroy(new Error('no connection in time')), connectMsMax)
      socket.once('connect', () => clearTimeout(timer))
      forwarded.once('close', () => clearTimeout(timer))
    }
    // What a client still sends after the answer is read and discarded by the kit; nobody waits for it there.
    response.once('close', () => {
      if (!request.complete || !response.writableFinished) forwarded.destroy()
    })
  })
  // An answer that breaks off must not look complete to the client.
  proxy.on('proxyRes', (answer, _request, response) => {
    answer.once('error', () => response.destroy())
    answer.once('aborted', () => response.destroy())
  })

  return {
    hand({ raw: { request, response }, requestId }, { name, address }, body) {
      const target = new URL(address)
      const { headers, socket } = request
      headers[forwardedHeader] = own
      headers['x-request-id'] = requestId
      headers['x-forwarded-for'] = [headers['x-forwarded-for'], socket.remoteAddress]
        .filter(Boolean)
        .join(', ')
      // The client has been told to go on already.
      delete headers.expect
      return new Promise<void>((resolve, reject) => {
        response.once('close', resolve)
        const agent = agents[target.protocol as keyof typeof agents]
        proxy.web(request, response, { target, agent, ...(body && { buffer: body }) }, (cause) => {
          if (response.headersSent) response.destroy()
          else reject(unavailable(`${name} does not answer`, { cause, retryAfterMs: handOnRetryMs }))
        })
      })
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
