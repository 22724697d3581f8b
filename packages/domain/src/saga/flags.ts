import type { Activity } from './activity.js'
import type { ActivityStatus } from './activity-status.js'
import { deriveSagaOutcome, type Saga } from './saga.js'

/**
 * Conditions that clients do not report, because they crashed or do not know them:
 *
 * - `overdue`: an activity is still executing past its deadline.
 * - `stuck`: an unfinished saga has received no event for a while.
 * - `settled`: as `stuck`, but every activity has finished, because the client does not report the end of
 *   sagas.
 * - `parked`: for a long time, no event has named the saga of an activity, or reported the start of a saga.
 * - `inconsistent`: facts contradict each other.
 */
export const sagaFlagKinds = ['overdue', 'inconsistent', 'parked', 'stuck', 'settled'] as const

export type SagaFlagKind = (typeof sagaFlagKinds)[number]

export interface SagaFlag {
  kind: SagaFlagKind
  /** Null for a flag of the saga itself. */
  activityId: string | null
  since: Date
}

/** The delays before flags are set. */
export interface FlagRules {
  /**
   * Delay after a deadline, or after the last event of contradicting facts, because further events may still
   * arrive.
   */
  graceMs: number
  /** Time without an event until an unfinished saga is stuck or settled. */
  stuckAfterMs: number
  /** Time from the first event until an activity without a saga, or a saga without a start, is parked. */
  parkedAfterMs: number
}

export type FlaggableSaga = Pick<
  Saga,
  'status' | 'outcome' | 'startedAt' | 'endedAt' | 'firstSeenAt' | 'lastEventAt'
> & {
  /** When an operator resolved the saga; null when no operator has. */
  resolvedAt: Date | null
}

export type FlaggableActivity = Pick<Activity, 'id' | 'status' | 'firstSeenAt' | 'lastEventAt'> & {
  anomalies: readonly string[]
  /** Null without a deadline or a reported start. */
  deadlineAt: Date | null
}

/** Returns every flag of a saga and of its activities at an instant. */
export function deriveSagaFlags(
  saga: FlaggableSaga,
  activities: readonly FlaggableActivity[],
  rules: FlagRules,
  now: Date,
): SagaFlag[] {
  const flags = activities.flatMap((activity) => deriveActivityFlags(activity, rules, now))
  const lastEventAt = lastEventOf(saga, activities)
  if (saga.outcome === 'inconsistent' && hasPassed(lastEventAt, rules.graceMs, now))
    flags.push({ kind: 'inconsistent', activityId: null, since: saga.endedAt ?? lastEventAt })
  if (saga.status === 'Pending' && hasPassed(saga.firstSeenAt, rules.parkedAfterMs, now))
    flags.push({ kind: 'parked', activityId: null, since: saga.firstSeenAt })
  if (isUnfinished(saga, lastEventAt) && hasPassed(lastEventAt, rules.stuckAfterMs, now))
    flags.push({ kind: isSettled(activities) ? 'settled' : 'stuck', activityId: null, since: lastEventAt })
  return flags
}

/** Returns every flag of an activity that has no saga. */
export function deriveParkedActivityFlags(
  activity: FlaggableActivity,
  rules: FlagRules,
  now: Date,
): SagaFlag[] {
  const flags = deriveActivityFlags(activity, rules, now)
  if (hasPassed(activity.firstSeenAt, rules.parkedAfterMs, now))
    flags.push({ kind: 'parked', activityId: activity.id, since: activity.firstSeenAt })
  return flags
}

function deriveActivityFlags(activity: FlaggableActivity, rules: FlagRules, now: Date): SagaFlag[] {
  const { id, status, deadlineAt, anomalies, lastEventAt } = activity
  const flags: SagaFlag[] = []
  if (status === 'Executing' && deadlineAt && hasPassed(deadlineAt, rules.graceMs, now))
    flags.push({ kind: 'overdue', activityId: id, since: deadlineAt })
  if (anomalies.length > 0 && hasPassed(lastEventAt, rules.graceMs, now))
    flags.push({ kind: 'inconsistent', activityId: id, since: lastEventAt })
  return flags
}

/**
 * Returns the time of the latest event of a saga. The saga's own `lastEventAt` may be older than those of its
 * activities.
 */
export const lastEventOf = (
  saga: Pick<Saga, 'lastEventAt'>,
  activities: readonly Pick<Activity, 'lastEventAt'>[],
): Date => activities.reduce((last, { lastEventAt }) => later(last, lastEventAt), saga.lastEventAt)

/**
 * Returns whether further events are expected. A saga with the status Error already needs an operator, and a
 * resolved saga without later events is done.
 */
const isUnfinished = ({ status, endedAt, resolvedAt }: FlaggableSaga, lastEventAt: Date): boolean =>
  endedAt === null && status !== 'Error' && (resolvedAt === null || lastEventAt > resolvedAt)

/** Returns whether the saga would end without a contradiction if its client reported the end now. */
export function isSettled(activities: readonly { status: ActivityStatus }[]): boolean {
  const outcome = deriveSagaOutcome('Ended', activities)
  return outcome === 'succeeded' || outcome === 'compensated'
}

const hasPassed = (time: Date, ms: number, now: Date): boolean => now.getTime() - time.getTime() >= ms

const later = (a: Date, b: Date): Date => (b > a ? b : a)

/**
 * Returns whether a stored flag continues. `inconsistent` keeps its first time; any other flag with another
 * time is a new one.
 */
export const isSameFlag = (stored: SagaFlag, derived: SagaFlag): boolean =>
  stored.kind === derived.kind &&
  stored.activityId === derived.activityId &&
  (stored.kind === 'inconsistent' || stored.since.getTime() === derived.since.getTime())
