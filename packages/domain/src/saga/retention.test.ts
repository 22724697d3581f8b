import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayMs } from '../clock.js'
import { activityStatuses } from './activity-status.js'
import { parseRetention, purgeDueAt, type RetainedSaga, retentionKinds, shortestKeepMs } from './retention.js'
import { deriveSagaOutcome, deriveSagaStatus } from './saga.js'

const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * dayMs)

const saga = (given: Partial<RetainedSaga> = {}): RetainedSaga => ({
  serviceName: 'orders',
  status: 'Ended',
  outcome: 'succeeded',
  endedAt: at(0),
  expiresAt: null,
  resolvedAt: null,
  lastEventAt: at(0),
  ...given,
})
const executed = [{ status: 'Executed', lastEventAt: at(0) } as const]

describe('a retention policy', () => {
  it('is parsed rule by rule', () => {
    expect(
      parseRetention(' ended=30d, succeeded = 12h ,eu/orders/compensated=2w,inconsistent=never,'),
    ).toEqual([
      { service: null, kind: 'ended', keepMs: 30 * dayMs },
      { service: null, kind: 'succeeded', keepMs: dayMs / 2 },
      { service: 'eu/orders', kind: 'compensated', keepMs: 14 * dayMs },
      { service: null, kind: 'inconsistent', keepMs: null },
    ])
    expect(parseRetention('')).toEqual([])
  })

  it.each([
    ['ended', '"ended" is no rule: write [service/]kind=duration'],
    ['ended=30d succeeded=7d', '"ended=30d succeeded=7d" is no rule'],
    ['orders/done=7d', '"done" in "orders/done=7d" is none of ended, succeeded'],
    ['ended=30', '"30" in "ended=30" is no duration: write 30d'],
    ['ended=-1d', '"-1d" in "ended=-1d" is no duration'],
    ['ended=7d,ended=8d', '"ended" is given twice'],
  ])('names the problem of %s', (text, message) => {
    expect(() => parseRetention(text)).toThrow(message)
  })

  it('has a shortest time', () => {
    expect(shortestKeepMs(parseRetention('ended=30d,orders/empty=7d,settled=never'))).toBe(7 * dayMs)
    expect(shortestKeepMs(parseRetention('ended=never'))).toBeNull()
  })
})

describe('a saga', () => {
  const cases: [string, string, RetainedSaga, number | null][] = [
    ['by its outcome', 'succeeded=7d,ended=30d', saga(), 7],
    ['by the common rule', 'compensated=7d,ended=30d', saga(), 30],
    ['by the rule of its service', 'succeeded=7d,orders/ended=90d', saga(), 90],
    ['not by that of another', 'succeeded=7d,stock/ended=90d', saga(), 7],
    ['not without a rule', 'compensated=7d', saga(), null],
    ['not with never', 'ended=7d,succeeded=never', saga(), null],
    ['from its last event on', 'ended=7d', saga({ lastEventAt: at(3) }), 10],
    ['when its client said, earlier', 'ended=30d', saga({ expiresAt: at(2) }), 2],
    ['when its client said, later', 'ended=1d', saga({ expiresAt: at(9) }), 9],
    ['when its client said, without a rule', '', saga({ expiresAt: at(9) }), 9],
    ['not open', 'ended=1d', saga({ status: 'Started', outcome: null, endedAt: null }), null],
    [
      'open, whatever its client said',
      '',
      saga({ status: 'Started', outcome: null, endedAt: null, expiresAt: at(1) }),
      null,
    ],
    ['not in error', 'ended=1d', saga({ status: 'Error', outcome: null, expiresAt: at(1) }), null],
    [
      'resolved',
      'ended=1d,resolved=5d',
      saga({ outcome: 'inconsistent', resolvedAt: at(2), lastEventAt: at(2) }),
      7,
    ],
    [
      'resolved, by its outcome',
      'inconsistent=4d',
      saga({ outcome: 'inconsistent', resolvedAt: at(2), lastEventAt: at(2) }),
      6,
    ],
    [
      'resolved, not before the policy says',
      'ended=5d',
      saga({ outcome: 'inconsistent', resolvedAt: at(2), lastEventAt: at(2), expiresAt: at(1) }),
      7,
    ],
    [
      'resolved and never ended',
      'ended=5d',
      saga({ status: 'Started', outcome: null, endedAt: null, resolvedAt: at(2), lastEventAt: at(2) }),
      7,
    ],
    [
      'not when it went on after it was resolved',
      'ended=5d',
      saga({ status: 'Started', outcome: null, endedAt: null, resolvedAt: at(2), lastEventAt: at(3) }),
      null,
    ],
    ['settled', 'settled=5d', saga({ status: 'Started', outcome: null, endedAt: null }), 5],
  ]
  it.each(cases)('is deleted %s', (_, policy, given, day) => {
    expect(purgeDueAt(given, executed, parseRetention(policy))).toEqual(day === null ? null : at(day))
  })

  it('is kept as long as events of its activities arrive', () => {
    expect(
      purgeDueAt(saga(), [{ status: 'Executed', lastEventAt: at(4) }], parseRetention('ended=1d')),
    ).toEqual(at(5))
  })
})

const day = fc.integer({ min: 0, max: 100 }).map(at)
const activities = fc.array(
  fc.record({
    status: fc.constantFrom(...activityStatuses),
    lastEventAt: day,
    finalAbort: fc.boolean(),
    givenUpAt: fc.option(day),
    overtimeNamedSaga: fc.boolean(),
  }),
  { maxLength: 4 },
)
const sagaWithActivities = fc
  .record({
    facts: fc.record({
      serviceName: fc.constantFrom('orders', 'stock', null),
      startedAt: fc.option(day),
      endedAt: fc.option(day),
      expiresAt: fc.option(day),
      lastEventAt: day,
      resolvedAt: fc.option(day),
    }),
    activities,
  })
  .map(({ facts, activities }) => {
    const status = deriveSagaStatus(facts, activities)
    return { saga: { ...facts, status, outcome: deriveSagaOutcome(status, activities) }, activities }
  })
const policies = fc.uniqueArray(
  fc.record({
    service: fc.constantFrom('orders', 'stock', null),
    kind: fc.constantFrom(...retentionKinds),
    keepMs: fc.option(fc.integer({ min: 0, max: 50 * dayMs })),
  }),
  { selector: ({ service, kind }) => `${service}/${kind}` },
)

describe('whatever the policy', () => {
  it('open sagas, sagas in error and unexpired sagas are never deleted', () => {
    fc.assert(
      fc.property(sagaWithActivities, policies, ({ saga, activities }, policy) => {
        const due = purgeDueAt(saga, activities, policy)
        if (due === null) return
        expect(saga.status).not.toBe('Error')
        const settledAllowed = policy.some(({ kind, keepMs }) => kind === 'settled' && keepMs !== null)
        expect(saga.endedAt !== null || saga.resolvedAt !== null || settledAllowed).toBe(true)
        if (saga.expiresAt) expect(due.getTime()).toBeGreaterThanOrEqual(saga.expiresAt.getTime())
        else
          expect(due.getTime()).toBeGreaterThanOrEqual(
            saga.lastEventAt.getTime() + (shortestKeepMs(policy) ?? 0),
          )
      }),
    )
  })

  it('only the expiry of the client counts without rules', () => {
    fc.assert(
      fc.property(sagaWithActivities, ({ saga, activities }) => {
        const due = purgeDueAt(saga, activities, [])
        expect(due === null || due === saga.expiresAt).toBe(true)
      }),
    )
  })
})
