import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { type Database, findProjectStorage } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import type { Call, Route } from '@switchyard/service-kit/http'
import type { Metrics } from '@switchyard/service-kit/observability'
import { createProxyServer } from 'http-proxy-3'
import { Counter } from 'prom-client'
import { projectPathOf } from './project-path.js'
import type { Storages } from './storages.js'

/** A request with this header was forwarded once, and is not forwarded again. */
const forwardedHeader = 'x-switchyard-forwarded-by'

const connectMsMax = 5_000
const retryAfterMs = 2_000

type ForwardedCall = Pick<Call, 'params' | 'requestId' | 'raw'>

export interface Forwarding {
  /** Hands a request for a project of another storage to the git-api there, as it is. @returns whether it did */
  forward: (route: Route, call: ForwardedCall) => Promise<boolean>
  close: () => void
}

/**
 * Forwards requests between the git-api of several storages. Only the storage of the project is looked up here. Token, rate and
 * right are judged where the repository is.
 */
export function createForwarding(database: Database, storages: Storages, { registry }: Metrics): Forwarding {
  const figures = createFigures(registry)
  const proxy = createProxy(storages)

  /** @returns null for a request that has to be answered here */
  async function holderOf(route: Route, params: Record<string, string>): Promise<string | null> {
    if (route.browsersOnly || route.internal) return null
    if (route.path === '/projects') return route.method === 'POST' ? storages.ofNewProjects : null
    const reference = referenceOf(route, params)
    return reference === null ? null : findProjectStorage(database, reference)
  }

  return {
    async forward(route, call) {
      const storage = await holderOf(route, call.params)
      if (storage === null || storage === storages.own) return false
      const { headers } = call.raw.request
      if (headers[forwardedHeader] !== undefined) {
        if (route.path === '/projects') return false
        figures.refused.inc()
        throw unavailable('the project is being moved to another storage', { retryAfterMs })
      }
      const target = storages.others.get(storage)
      if (target === undefined)
        throw unavailable(`the storage ${storage} is not known here`, { retryAfterMs })
      figures.forwarded.inc({ storage })
      await proxy.hand(call, target, storage)
      return true
    },
    close: proxy.close,
  }
}

/** The project that a request is for, by id or path; null for none. */
function referenceOf({ path }: Route, params: Record<string, string>): string | null {
  if (path.startsWith('/projects/:id')) return params.id ?? null
  return path.startsWith('/:namespace/:project/') ? projectPathOf(params) : null
}

function createFigures(registry: Metrics['registry']) {
  return {
    forwarded: new Counter({
      name: 'git_api_forwarded_requests_total',
      help: 'Requests that were handed to the git-api of another storage.',
      labelNames: ['storage'],
      registers: [registry],
    }),
    refused: new Counter({
      name: 'git_api_refused_forwards_total',
      help: 'Forwarded requests that were refused because the project is not here either.',
      registers: [registry],
    }),
  }
}

function createProxy({ own }: Storages) {
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
      if (!request.complete) forwarded.destroy()
    })
  })
  // An answer that breaks off must not look complete to the client.
  proxy.on('proxyRes', (answer, _request, response) => {
    answer.once('error', () => response.destroy())
    answer.once('aborted', () => response.destroy())
  })

  return {
    /** @throws DomainError unavailable when the other git-api does not answer */
    hand({ raw: { request, response }, requestId }: ForwardedCall, address: string, storage: string) {
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
        proxy.web(request, response, { target, agent }, (cause) => {
          if (response.headersSent) response.destroy()
          else reject(unavailable(`the storage ${storage} does not answer`, { cause, retryAfterMs }))
        })
      })
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
