import { rateLimited } from '@switchyard/domain'
import type { RawSagaEvent } from '@switchyard/domain/saga'
import { LRUCache } from 'lru-cache'
import type { Peer } from './peer.js'
import { createServiceMemory } from './service-memory.js'
import { TokenBucket } from './token-bucket.js'

/** An event before it is counted. */
export interface Arrival {
  peer: Peer
  tenant: string
  event: RawSagaEvent
  /** Identifies the sender when nothing else does. */
  address: string
}

export interface RateLimit {
  /**
   * Counts an event whose message is not read yet, when the sender's certificate names its service.
   *
   * @throws DomainError rate-limited when that service has reported too much
   */
  countByHeaders(peer: Peer): void
  /**
   * Counts an event that could not be counted by its headers.
   *
   * @throws DomainError rate-limited when the event's service has reported too much
   */
  countByEvent(arrival: Arrival): void
}

interface Options {
  /** Events a second for each service; 0 switches the limit off. */
  perSecond: number
  /** Events at once after a pause. */
  burst: number
  /** Milliseconds that never go back. */
  nowMs: () => number
  /** How many sagas, and as many activities, are remembered with their service. */
  rememberedMax?: number
}

const bucketsMax = 10_000

/**
 * Limits the events of each service, so that a service with too many events does not affect other services. The service
 * of an event is that of its sender's certificate, or the one that it names, or that of its saga or activity as far as
 * this process has seen it. Events of unknown sagas share the limit of their sender.
 */
export function createRateLimit({ perSecond, burst, nowMs, rememberedMax = 100_000 }: Options): RateLimit {
  if (perSecond === 0) return { countByHeaders: () => {}, countByEvent: () => {} }
  const buckets = new LRUCache<string, TokenBucket>({ max: bucketsMax })
  const serviceOf = createServiceMemory(rememberedMax)

  function count(key: string, sender: string): void {
    const now = nowMs()
    let bucket = buckets.get(key)
    if (!bucket) {
      bucket = new TokenBucket(perSecond, burst, now)
      buckets.set(key, bucket)
    }
    const waitMs = bucket.take(now)
    if (waitMs > 0) throw rateLimited(`${sender} reports more than ${perSecond} events a second`, waitMs)
  }

  const countService = (service: string) => count(service, `service ${service}`)
  return {
    countByHeaders({ service }) {
      if (service !== null) countService(service)
    },
    countByEvent({ peer, tenant, event, address }) {
      if (peer.service !== null) return
      const service = serviceOf(tenant, event)
      if (service !== null) countService(service)
      // The space distinguishes this key from names of services, which are trimmed.
      else count(` ${peer.name ?? address}`, 'this sender')
    },
  }
}
