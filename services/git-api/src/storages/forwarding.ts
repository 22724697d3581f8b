import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Database } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import type { Call, Forward, Route } from '@switchyard/service-kit/http'
import { createProxyServer } from 'http-proxy-3'
import { projectPathOf } from '../guards.js'
import { findProjectStorage } from '../projects/store.js'
import type { StorageMetrics, Storages } from './storages.js'

/**
 * Header with the secret of the storages. A request that has it was forwarded once, and is not forwarded
 * again. Clients do not know the secret.
 */
const forwardedHeader = 'x-switchyard-forwarded-by'

/** Time after which a client may repeat a request that could not be forwarded. */
const forwardRetryMs = 2_000

const connectMsMax = 5_000

export interface Forwarding {
  /**
   * Forwards a request unchanged to the git-api whose storage holds the project.
   *
   * @returns whether it was forwarded
   */
  forward: Forward
  close: () => void
}

/**
 * Creates the forwarding of requests between the git-api processes of several storages. This process only
 * looks up the storage of the project. The git-api with the repository checks the token, the rate limit and
 * the rights.
 */
export function createForwarding(
  database: Database,
  storages: Storages,
  metrics: StorageMetrics,
): Forwarding {
  const forwarder = createForwarder(storages.header?.value ?? '')

  /** @returns null for a request that this process has to answer */
  async function holderOf(route: Route, params: Record<string, string>): Promise<string | null> {
    if (route.only || route.internal) return null
    if (route.path === '/projects') return route.method === 'POST' ? storages.ofNewProjects : null
    const reference = referenceOf(route, params)
    return reference === null ? null : findProjectStorage(database, reference)
  }

  return {
    async forward(route, call) {
      const storage = await holderOf(route, call.params)
      if (storage === null || storage === storages.own) return false
      const { headers } = call.raw.request
      if (storages.isSecret(headers[forwardedHeader]?.toString())) {
        if (route.path === '/projects') return false
        metrics.refused.inc()
        throw unavailable('the project is being moved to another storage', { retryAfterMs: forwardRetryMs })
      }
      const address = storages.others.get(storage)
      if (address === undefined)
        throw unavailable(`the storage ${storage} is not known here`, { retryAfterMs: forwardRetryMs })
      metrics.forwarded.inc({ storage })
      await forwarder.forward(call, { name: `the storage ${storage}`, address })
      return true
    },
    close: forwarder.close,
  }
}

/** Returns the project of a request, by id or path; null: there is none. */
function referenceOf({ path }: Route, params: Record<string, string>): string | null {
  if (path.startsWith('/projects/:id') || path.startsWith('/-/project/:id/')) return params.id ?? null
  return path.startsWith('/:namespace/:project/') ? projectPathOf(params) : null
}

/** Another process that answers a request. */
interface Upstream {
  /** Name in error texts, such as `the storage second`. */
  name: string
  /** `http://host:port` */
  address: string
}

interface Forwarder {
  /**
   * Forwards a request unchanged to another process, and its answer to the client.
   *
   * @throws DomainError unavailable when the upstream does not answer
   */
  forward: (call: Pick<Call, 'requestId' | 'raw'>, upstream: Upstream) => Promise<void>
  close: () => void
}

/** @param secret the secret of the storages, which is sent in `forwardedHeader` */
function createForwarder(secret: string): Forwarder {
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
    forward({ raw: { request, response }, requestId }, { name, address }) {
      const target = new URL(address)
      const { headers, socket } = request
      headers[forwardedHeader] = secret
      headers['x-request-id'] = requestId
      headers['x-forwarded-for'] = [headers['x-forwarded-for'], socket.remoteAddress]
        .filter(Boolean)
        .join(', ')
      // The client has received `100 Continue` already.
      delete headers.expect
      return new Promise<void>((resolve, reject) => {
        response.once('close', resolve)
        const agent = agents[target.protocol as keyof typeof agents]
        proxy.web(request, response, { target, agent }, (cause) => {
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
