import type { DomainError } from '@switchyard/domain'
import type { RawSagaEvent } from '@switchyard/domain/saga'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Peer } from '../shapes/peer.js'
import { createRateLimit, TokenBucket } from './rate-limit.js'

const anybody: Peer = { name: null, service: null, tenants: null }
const started = (sagaId: string, serviceName: string): RawSagaEvent => ({
  operation: 'SagaStarted',
  sagaId,
  serviceName,
})
const ended = (sagaId: string, serviceName = ''): RawSagaEvent => ({
  operation: 'SagaEnded',
  sagaId,
  serviceName,
})
const revoked = (activityId: string): RawSagaEvent => ({ operation: 'ActivityRevoked', activityId })
const activityEnded = (activityId: string, sagaId: string): RawSagaEvent => ({
  operation: 'ActivityEnded',
  activityId,
  sagaId,
  resultData: new Uint8Array(),
})

function limit({ perSecond = 1, burst = 2, rememberedMax = 100 } = {}) {
  let now = 0
  const rateLimit = createRateLimit({ perSecond, burst, rememberedMax, nowMs: () => now })
  return {
    tick: (ms: number) => {
      now += ms
    },
    /** Sends an event. Returns null when it passes, otherwise the refusal. */
    send(event: RawSagaEvent, { peer = anybody, tenant = 'default', address = '10.0.0.1' } = {}) {
      try {
        rateLimit?.({ peer, tenant, event, address })
        return null
      } catch (error) {
        return error as DomainError
      }
    },
  }
}

describe('the rate limit of a service', () => {
  it('refuses events over the limit with the time to retry, and does not affect other services', () => {
    const { send, tick } = limit()
    expect(send(started('1', 'booking'))).toBeNull()
    expect(send(started('2', 'booking'))).toBeNull()
    const refusal = send(started('3', 'booking'))
    expect(refusal).toMatchObject({ kind: 'rate-limited', retryAfterMs: 1000 })
    expect(refusal?.message).toBe('service booking reports more than 1 events a second')
    expect(send(started('4', 'billing'))).toBeNull()
    tick(1000)
    expect(send(started('3', 'booking'))).toBeNull()
  })

  it("counts the events of the service's sagas and activities, in their tenant", () => {
    const { send } = limit({ burst: 4 })
    send(started('s', 'booking'))
    expect(send(activityEnded('a', 's'))).toBeNull()
    expect(send(revoked('a'))).toBeNull()
    expect(send(ended('s'))).toBeNull()
    expect(send(revoked('a'))?.message).toContain('service booking')
    // The same ids in another tenant are other sagas.
    expect(send(revoked('a'), { tenant: 'acme' })).toBeNull()
  })

  it('belongs to the service of the certificate when it names one', () => {
    const { send } = limit({ burst: 1 })
    const peer = { name: 'orders.internal', service: 'orders', tenants: null }
    expect(send(revoked('a'), { peer })).toBeNull()
    expect(send(revoked('b'), { peer })?.message).toContain('service orders')
    expect(send(started('s', 'orders'))?.message).toContain('service orders')
  })

  it('is shared by address or token for unknown sagas', () => {
    const { send } = limit({ burst: 1 })
    expect(send(revoked('a'))).toBeNull()
    expect(send(revoked('b'))?.message).toContain('this sender')
    expect(send(revoked('b'), { address: '10.0.0.2' })).toBeNull()
    expect(send(revoked('b'), { peer: { ...anybody, name: 'token x' } })).toBeNull()
    expect(send(revoked('c'), { peer: { ...anybody, name: 'token x' } })?.message).toContain('this sender')
  })

  it('does not treat the time of a SagaEnded as a service', () => {
    const { send } = limit({ burst: 1 })
    expect(send(ended('s', '2020-03-09 05:13:08.123'))).toBeNull()
    expect(send(ended('t', '2021-03-09 05:13:08.123'))?.message).toContain('this sender')
  })

  it('forgets sagas without recent events, in bounded memory', () => {
    const { send } = limit({ burst: 3, rememberedMax: 2 })
    send(started('1', 'booking'))
    for (const id of ['2', '3', '4', '5', '6', '7']) send(started(id, `other-${id}`))
    expect(send(ended('7'))).toBeNull()
    for (let count = 0; count < 3; count++) expect(send(ended('1'))).toBeNull()
    expect(send(ended('1'))?.message).toContain('this sender')
  })

  it('is disabled by 0', () => {
    const { send } = limit({ perSecond: 0 })
    for (let count = 0; count < 100; count++) expect(send(started(String(count), 'booking'))).toBeNull()
  })
})

/** Returns the times at which events pass. */
const passed = (bucket: TokenBucket, times: number[]) =>
  times.filter((nowMs) => bucket.take(nowMs) === 0).length

describe('a token bucket', () => {
  it('passes a burst at once, then the rate', () => {
    const bucket = new TokenBucket(10, 3, 0)
    expect([0, 0, 0].map((now) => bucket.take(now))).toEqual([0, 0, 0])
    expect(bucket.take(0)).toBe(100)
    expect(bucket.take(40)).toBeCloseTo(60)
    expect(bucket.take(100)).toBe(0)
    expect(bucket.take(100)).toBeCloseTo(100)
  })

  it('never passes more than the burst and the rate allow, and nothing less', () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 })
    const limits = fc.record({
      perSecond: fc.integer({ min: 1, max: 2000 }),
      burst: fc.integer({ min: 1, max: 50 }),
    })
    fc.assert(
      fc.property(arrivals, limits, (gaps, { perSecond, burst }) => {
        let now = 0
        const times = gaps.map((gap) => {
          now += gap
          return now
        })
        const count = passed(new TokenBucket(perSecond, burst, 0), times)
        expect(count).toBeLessThanOrEqual(burst + (now / 1000) * perSecond + 1e-6)
        expect(count).toBeGreaterThanOrEqual(Math.min(times.length, burst))
      }),
    )
  })

  it('returns exactly the wait after which the next event passes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 20 }), (perSecond, burst) => {
        const bucket = new TokenBucket(perSecond, burst, 0)
        for (let taken = 0; taken < burst; taken++) bucket.take(0)
        const waitMs = bucket.take(0)
        expect(bucket.take(waitMs * 0.99)).toBeGreaterThan(0)
        expect(bucket.take(waitMs + 0.001)).toBe(0)
      }),
    )
  })

  it('works with a clock that steps back', () => {
    const bucket = new TokenBucket(1000, 1, 1000)
    expect(bucket.take(1000)).toBe(0)
    expect(bucket.take(0)).toBe(1)
    expect(bucket.take(1001)).toBe(0)
  })
})
