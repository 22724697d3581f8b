import { describe, expect, it } from 'vitest'
import {
  deriveParkedActivityFlags,
  deriveSagaFlags,
  type FlaggableActivity,
  type FlaggableSaga,
  isSameFlag,
  type SagaFlag,
} from './flags.js'

const now = new Date('2026-03-01T12:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
const rules = { graceMs: 5000, stuckAfterMs: 900_000, parkedAfterMs: 86_400_000 }

const saga = (given: Partial<FlaggableSaga> = {}): FlaggableSaga => ({
  status: 'Started',
  outcome: null,
  startedAt: ago(10),
  endedAt: null,
  resolvedAt: null,
  firstSeenAt: ago(10),
  lastEventAt: ago(10),
  ...given,
})
const activity = (given: Partial<FlaggableActivity> = {}): FlaggableActivity => ({
  id: 'a',
  status: 'Executing',
  anomalies: [],
  deadlineAt: null,
  firstSeenAt: ago(10),
  lastEventAt: ago(10),
  ...given,
})

const idle = { firstSeenAt: ago(5000), startedAt: ago(5000), lastEventAt: ago(900) }
const executed = activity({ status: 'Executed', lastEventAt: ago(900) })
const revoked = activity({ id: 'b', status: 'Revoked', lastEventAt: ago(900) })
const compensated = activity({ id: 'c', status: 'Compensated', lastEventAt: ago(900) })
const idleExecuting = activity({ lastEventAt: ago(900) })

const flagNames = (flags: SagaFlag[]) =>
  flags.map(({ kind, activityId }) => (activityId === null ? kind : `${kind}:${activityId}`))

describe('the flags of a saga', () => {
  const cases: [string, FlaggableSaga, FlaggableActivity[], string[]][] = [
    ['lively', saga(), [activity()], []],
    ['not past its deadline', saga(), [activity({ deadlineAt: ago(-1) })], []],
    ['past its deadline, within the grace', saga(), [activity({ deadlineAt: ago(4.999) })], []],
    ['past deadline and grace', saga(), [activity({ deadlineAt: ago(5) })], ['overdue:a']],
    ['ended past its deadline', saga(), [activity({ status: 'Executed', deadlineAt: ago(99) })], []],
    ['reported overtime', saga(), [activity({ status: 'Overtime', deadlineAt: ago(99) })], []],
    ['quiet, not long enough', saga({ ...idle, lastEventAt: ago(899.999) }), [idleExecuting], []],
    ['quiet for long', saga(idle), [idleExecuting], ['stuck']],
    ['quiet for long before its first step', saga(idle), [], ['stuck']],
    ['quiet, only an activity is lively', saga(idle), [activity({ lastEventAt: ago(3) })], []],
    ['quiet in overtime', saga({ ...idle, status: 'Overtime' }), [idleExecuting], ['stuck']],
    ['quiet, never started', saga({ ...idle, status: 'Pending', startedAt: null }), [executed], ['settled']],
    ['quiet, given up', saga({ ...idle, status: 'Error' }), [executed], []],
    [
      'quiet, ended',
      saga({ ...idle, status: 'Ended', outcome: 'succeeded', endedAt: ago(900) }),
      [executed],
      [],
    ],
    ['quiet, resolved', saga({ ...idle, resolvedAt: ago(900) }), [executed], []],
    [
      'quiet, went on after it was resolved',
      saga({ ...idle, resolvedAt: ago(901) }),
      [idleExecuting],
      ['stuck'],
    ],
    ['quiet, everything executed', saga(idle), [executed], ['settled']],
    ['quiet, everything undone', saga(idle), [revoked, compensated], ['settled']],
    ['quiet, half undone', saga(idle), [executed, compensated], ['stuck']],
    [
      'quiet, undoing failed',
      saga(idle),
      [activity({ status: 'CompensateAborted', lastEventAt: ago(900) })],
      ['stuck'],
    ],
    ['never started, for less than a day', saga({ status: 'Pending', startedAt: null }), [activity()], []],
    [
      'never started, for a day',
      saga({ status: 'Pending', startedAt: null, firstSeenAt: ago(86_400) }),
      [activity()],
      ['parked'],
    ],
    [
      'ended in contradiction',
      saga({ status: 'Ended', outcome: 'inconsistent', endedAt: ago(10) }),
      [activity()],
      ['inconsistent'],
    ],
    [
      'ended in contradiction a moment ago',
      saga({ status: 'Ended', outcome: 'inconsistent', endedAt: ago(4), lastEventAt: ago(4) }),
      [activity()],
      [],
    ],
    [
      'an activity with contradictions',
      saga(),
      [activity({ anomalies: ['result_conflict'] })],
      ['inconsistent:a'],
    ],
  ]
  it.each(cases)('%s', (_, given, activities, expected) => {
    expect(flagNames(deriveSagaFlags(given, activities, rules, now))).toEqual(expected)
  })

  it('count from the time of their cause', () => {
    expect(
      deriveSagaFlags(saga(idle), [activity({ deadlineAt: ago(1000), lastEventAt: ago(950) })], rules, now),
    ).toEqual([
      { kind: 'overdue', activityId: 'a', since: ago(1000) },
      { kind: 'stuck', activityId: null, since: ago(900) },
    ])
  })
})

describe('the flags of an activity without a saga', () => {
  const cases: [string, FlaggableActivity, string[]][] = [
    ['parked lately', activity({ firstSeenAt: ago(86_399) }), []],
    ['parked for long', activity({ firstSeenAt: ago(86_400) }), ['parked:a']],
    ['contradicting itself', activity({ anomalies: ['executed_and_aborted'] }), ['inconsistent:a']],
  ]
  it.each(cases)('%s', (_, given, expected) => {
    expect(flagNames(deriveParkedActivityFlags(given, rules, now))).toEqual(expected)
  })
})

describe('a stored flag', () => {
  const stuck: SagaFlag = { kind: 'stuck', activityId: null, since: ago(900) }
  it('continues while its cause is the same', () => {
    expect(isSameFlag(stuck, { ...stuck, since: ago(900) })).toBe(true)
  })
  it('begins anew when the saga has received events in between', () => {
    expect(isSameFlag(stuck, { ...stuck, since: ago(899) })).toBe(false)
  })
  it('of a contradiction continues, whatever is reported', () => {
    const inconsistent: SagaFlag = { ...stuck, kind: 'inconsistent' }
    expect(isSameFlag(inconsistent, { ...inconsistent, since: ago(1) })).toBe(true)
  })
})
