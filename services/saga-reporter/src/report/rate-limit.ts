import { rateLimited } from '@switchyard/domain'
import { keyInTenant, type RawSagaEvent } from '@switchyard/domain/saga'
import { LRUCache } from 'lru-cache'
import { serviceNameOf } from '../access/access.js'
import type { Peer } from '../shapes/peer.js'

/** An event before the rate limit counts it. */
export interface Arrival {
  peer: Peer
  tenant: string
  event: RawSagaEvent
  /** Identifies the sender when no token or certificate does. */
  address: string
}

/**
 * A function that counts an event.
 *
 * @throws DomainError rate-limited when the event's service has reported too much
 */
export type RateLimit = (arrival: Arrival) => void

interface Options {
  /** Events a second for each service; 0: no limit. */
  perSecond: number
  /** Events at once after a pause. */
  burst: number
  /** Returns milliseconds that never decrease. */
  nowMs: () => number
  /** Number of sagas, and of activities, whose service is remembered. */
  rememberedMax?: number
}

const bucketsMax = 10_000

/**
 * Creates the rate limit for the events of each service, so that a service with too many events does not
 * affect others. The service of an event is the service in the sender's certificate, the service that the
 * event names, or the service of its saga or activity as far as this process has seen it. Events of unknown
 * sagas share the limit of their sender. A CI job has its own limit, so that it cannot use up the limit of a
 * service by naming it.
 */
export function createRateLimit(options: Options): RateLimit | undefined {
  const { perSecond, burst, nowMs, rememberedMax = 100_000 } = options
  if (perSecond === 0) return undefined
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

  return ({ peer, tenant, event, address }) => {
    if (peer.isJob) return count(` ${peer.name}`, 'this job')
    const service = peer.service ?? serviceOf(tenant, event)
    if (service !== null) count(service, `service ${service}`)
    // The leading space distinguishes this key from names of services, which are trimmed.
    else count(` ${peer.name ?? address}`, 'this sender')
  }
}

/**
 * A function that returns the service of an event, as far as this process has seen it; null when it is
 * unknown.
 */
type ServiceMemory = (tenant: string, event: RawSagaEvent) => string | null

/** Remembers the services of sagas and activities: of the latest `max` sagas and `max` activities. */
function createServiceMemory(max: number): ServiceMemory {
  const sagas = new LRUCache<string, string>({ max })
  const activities = new LRUCache<string, string>({ max })
  const ofSaga = (tenant: string, sagaId: string, named: string | null): string | null => {
    if (sagaId === '') return named
    const key = keyInTenant(tenant, sagaId)
    if (named === null) return sagas.get(key) ?? null
    sagas.set(key, named)
    return named
  }
  return (tenant, event) => {
    if (!('activityId' in event)) return ofSaga(tenant, event.sagaId.trim(), serviceNameOf(event))
    const key = keyInTenant(tenant, event.activityId.trim())
    const known = activities.get(key)
    if (known !== undefined || !('sagaId' in event)) return known ?? null
    const service = ofSaga(tenant, event.sagaId.trim(), null)
    if (service !== null) activities.set(key, service)
    return service
  }
}

/**
 * Passes `perSecond` events a second, and up to `burst` at once after a pause. Each call receives the time,
 * in milliseconds that never decrease.
 */
export class TokenBucket {
  readonly #perMs: number
  readonly #burst: number
  #tokens: number
  #atMs: number

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1000
    this.#burst = burst
    this.#tokens = burst
    this.#atMs = nowMs
  }

  /** Takes a token. Returns 0 when there was one, otherwise the milliseconds until the next one. */
  take(nowMs: number): number {
    if (nowMs > this.#atMs) {
      this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#atMs) * this.#perMs)
      this.#atMs = nowMs
    }
    if (this.#tokens >= 1) {
      this.#tokens -= 1
      return 0
    }
    return (1 - this.#tokens) / this.#perMs
  }
}
