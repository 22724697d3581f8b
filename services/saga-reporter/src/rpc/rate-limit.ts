import { rateLimited } from '@switchyard/domain'
import type { RawSagaEvent } from '@switchyard/domain/saga'
import type { Peer } from './peer.js'
import { RecentMap } from './recent-map.js'
import { createServiceMemory } from './service-memory.js'
import { TokenBucket } from './token-bucket.js'

/** One event that asks to be let in. `address` is asked for only when nothing else names the sender. */
export interface Arrival {
  peer: Peer
  tenant: string
  event: RawSagaEvent
  address: () => string
}

/** @throws DomainError rate-limited when the event's service has reported too much */
export type RateLimit = (arrival: Arrival) => void

interface Options {
  /** Events a second for each service; 0 switches the limit off. */
  perSecond: number
  /** Events at once after a quiet time. */
  burst: number
  /** Milliseconds that never go back. */
  nowMs: () => number
  /** How many sagas, and as many activities, are remembered with their service. */
  rememberedMax?: number
}

const bucketsMax = 10_000

/**
 * Holds every service to its share, so that a noisy orchestrator does not stop the rest. An event's
 * service is the peer's, or the one it names, or that of its saga or activity as this process has seen
 * it; events of unknown sagas share the limit of their sender.
 */
export function createRateLimit({ perSecond, burst, nowMs, rememberedMax = 100_000 }: Options): RateLimit {
  if (perSecond === 0) return () => {}
  const buckets = new RecentMap<TokenBucket>(bucketsMax)
  const serviceOf = createServiceMemory(rememberedMax)
  return (arrival) => {
    const service = arrival.peer.service ?? serviceOf(arrival.tenant, arrival.event)
    const key = service === null ? ` ${arrival.peer.name ?? arrival.address()}` : service
    const now = nowMs()
    let bucket = buckets.get(key)
    if (!bucket) {
      bucket = new TokenBucket(perSecond, burst, now)
      buckets.set(key, bucket)
    }
    const waitMs = bucket.take(now)
    if (waitMs === 0) return
    const sender = service === null ? 'this sender' : `service ${service}`
    throw rateLimited(`${sender} reports more than ${perSecond} events a second`, waitMs)
  }
}
