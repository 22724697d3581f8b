import { type Database, findProjectStorage } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import {
  type Call,
  createForwarder,
  forwardedHeader,
  forwardRetryMs,
  type Route,
} from '@switchyard/service-kit/http'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Counter } from 'prom-client'
import { projectPathOf } from '../guards.js'
import type { Storages } from './storages.js'

type ForwardedCall = Pick<Call, 'params' | 'requestId' | 'raw'>

export interface Forwarding {
  /** Forwards a request unchanged to the git-api whose storage holds the project. @returns true when it was forwarded */
  forward: (route: Route, call: ForwardedCall) => Promise<boolean>
  close: () => void
}

/**
 * Forwards requests between the git-api of several storages. Here, only the storage of the project is looked up.
 * The git-api that has the repository checks the token, the rate limit and the rights.
 */
export function createForwarding(
  database: Database,
  storages: Storages,
  counters: ForwardingCounters,
): Forwarding {
  const forwarder = createForwarder(storages.own)

  /** @returns null for a request that has to be answered here */
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
      if (headers[forwardedHeader] !== undefined) {
        if (route.path === '/projects') return false
        counters.refused.inc()
        throw unavailable('the project is being moved to another storage', { retryAfterMs: forwardRetryMs })
      }
      const address = storages.others.get(storage)
      if (address === undefined)
        throw unavailable(`the storage ${storage} is not known here`, { retryAfterMs: forwardRetryMs })
      counters.forwarded.inc({ storage })
      await forwarder.forward(call, { name: `the storage ${storage}`, address })
      return true
    },
    close: forwarder.close,
  }
}

/** The project that a request is for, by id or path; null for none. */
function referenceOf({ path }: Route, params: Record<string, string>): string | null {
  if (path.startsWith('/projects/:id')) return params.id ?? null
  return path.startsWith('/:namespace/:project/') ? projectPathOf(params) : null
}

type ForwardingCounters = ReturnType<typeof createForwardingCounters>

/** An installation without other storages has them, too, so that the alert about them can be tried. */
export function createForwardingCounters({ registry }: Pick<Metrics, 'registry'>) {
  return {
    forwarded: new Counter({
      name: 'git_api_forwarded_requests_total',
      help: 'Requests that were forwarded to the git-api of another storage.',
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
