import type { Activity } from './activity.js'
import type { ActivityStatus } from './activity-status.js'
import { deriveSagaOutcome, type Saga } from './saga.js'

/**
 * What no client can report, because whoever would have to is gone or does not know:
 *
 * - `overdue`: an activity is still executing past its deadline.
 * - `stuck`: nothing has been heard of an unfinished saga for a while.
 * - `settled`: the same, but every activity has come to its end; its client never says that sagas end.
 * - `parked`: events of an activity whose saga nobody has named, or of a saga that nobody has started, for long.
 * - `inconsistent`: facts that contradict each other.
 */
export const sagaFlagKinds = ['overdue', 'inconsistent', 'parked', 'stuck', 'settled'] as const

export type SagaFlagKind = (typeof sagaFlagKinds)[number]

export interface SagaFlag {
  kind: SagaFlagKind
  /** Null when the flag is the saga's. */
  activityId: string | null
  since: Date
}

/** After how long what is flagged. */
export interface FlagRules {
  /** Past a deadline, and since the last event of what contradicts itself: events may still be under way. */
  graceMs: number
  /** Without an event, until an unfinished saga is stuck or settled. */
  stuckAfterMs: number
  /** From the first event on, until what has no saga or no start is given up. */
  parkedAfterMs: number
}

export type FlaggableSaga = Pick<
  Saga,
  'status' | 'outcome' | 'startedAt' | 'endedAt' | 'firstSeenAt' | 'lastEventAt'
> & {
  /** When an operator resolved it; null when none has. */
  resolvedAt: Date | null
}

export type FlaggableActivity = Pick<Activity, 'id' | 'status' | 'firstSeenAt' | 'lastEventAt'> & {
  anomalies: readonly string[]
  /** Null when it has no deadline, or its start has not been reported. */
  deadlineAt: Date | null
}

/** Every flag of a saga and of its activities at an instant. */
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

/** Every flag of an activity that has no saga. */
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

/** The latest event of a saga; its own time may lag behind those of its activities. */
export const lastEventOf = (
  saga: Pick<Saga, 'lastEventAt'>,
  activities: readonly Pick<Activity, 'lastEventAt'>[],
): Date => activities.reduce((last, { lastEventAt }) => later(last, lastEventAt), saga.lastEventAt)

/**
 * Somebody should still report on it. Not so for Error, which says by itself that it needs an operator, nor for what
 * an operator has resolved and nobody has reported on since.
 */
const isUnfinished = ({ status, endedAt, resolvedAt }: FlaggableSaga, lastEventAt: Date): boolean =>
  endedAt === null && status !== 'Error' && (resolvedAt === null || lastEventAt > resolvedAt)

/** Had its client said that it ended, it would have come to an end without contradiction. */
export function isSettled(activities: readonly { status: ActivityStatus }[]): boolean {
  const outcome = deriveSagaOutcome('Ended', activities)
  return outcome === 'succeeded' || outcome === 'compensated'
}

const hasPassed = (time: Date, ms: number, now: Date): boolean => now.getTime() - time.getTime() >= ms

const later = (a: Date, b: Date): Date => (b > a ? b : a)

/** Whether a flag goes on: `inconsistent` keeps the time it was noticed, every other begins anew with its cause. */
export const isSameFlag = (stored: SagaFlag, derived: SagaFlag): boolean =>
  stored.kind === derived.kind &&
  stored.activityId === derived.activityId &&
  (stored.kind === 'inconsistent' || stored.since.getTime() === derived.since.getTime())
