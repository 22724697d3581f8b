import type { Activity } from './activity.js'
import type { ActivityStatus } from './activity-status.js'

/** Pending: only events of its activities have been received. */
export const sagaStatuses = ['Pending', 'Started', 'Overtime', 'Ended', 'Error'] as const

export type SagaStatus = (typeof sagaStatuses)[number]

export const sagaOutcomes = ['succeeded', 'compensated', 'empty', 'inconsistent'] as const

export type SagaOutcome = (typeof sagaOutcomes)[number]

/** A saga: the facts its events told, and the status and outcome that follow from them and its activities. */
export interface Saga {
  id: string
  serviceName: string | null
  status: SagaStatus
  /** Null until the saga has Ended. */
  outcome: SagaOutcome | null
  /** The client's start time. */
  addTime: Date | null
  /** Null while provisional: its start has not been received. */
  startedAt: Date | null
  endedAt: Date | null
  expiresAt: Date | null
  /** An activity event was received after the saga had ended. */
  late: boolean
  /** When an operator saw to it last: failures up to then no longer make it an Error. */
  resolvedAt: Date | null
  resolvedBy: string | null
  firstSeenAt: Date
  /** Of the newest event, but for ordinary ones of its activities less than ten seconds newer. */
  lastEventAt: Date
  /** The newest contents it has taken: see `content-keys.ts`. */
  contentKeys: string
}

export const unseenSaga = (id: string, receivedAt: Date): Saga => ({
  id,
  serviceName: null,
  status: 'Pending',
  outcome: null,
  addTime: null,
  startedAt: null,
  endedAt: null,
  expiresAt: null,
  late: false,
  resolvedAt: null,
  resolvedBy: null,
  firstSeenAt: receivedAt,
  lastEventAt: receivedAt,
  contentKeys: '',
})

/** What a saga's status and outcome depend on of each of its activities. */
export type ActivityFacts = Pick<Activity, 'status' | 'finalAbort' | 'overtimeNamedSaga' | 'givenUpAt'>

/** A saga's status; an ended saga never hides a compensation that was given up. */
export function deriveSagaStatus(
  saga: Pick<Saga, 'startedAt' | 'endedAt' | 'resolvedAt'>,
  activities: readonly ActivityFacts[],
): SagaStatus {
  if (activities.some((activity) => isUnresolved(activity, saga.resolvedAt))) return 'Error'
  if (saga.endedAt) return 'Ended'
  if (activities.some((activity) => activity.overtimeNamedSaga && !overtimeIsSettled(activity.status)))
    return 'Overtime'
  return saga.startedAt ? 'Started' : 'Pending'
}

/** A compensation was given up, and since then neither was it done after all nor did an operator see to it. */
const isUnresolved = (activity: ActivityFacts, resolvedAt: Date | null) =>
  activity.finalAbort &&
  activity.status !== 'Compensated' &&
  !(resolvedAt && activity.givenUpAt && activity.givenUpAt <= resolvedAt)

const overtimeIsSettled = (status: ActivityStatus) => status === 'Executed' || status === 'Compensated'

/** What an ended saga came to; null while its status is not Ended. */
export function deriveSagaOutcome(
  status: SagaStatus,
  activities: readonly Pick<Activity, 'status'>[],
): SagaOutcome | null {
  if (status !== 'Ended') return null
  if (activities.length === 0) return 'empty'
  if (activities.every((activity) => activity.status === 'Executed')) return 'succeeded'
  const undone = activities.every(({ status }) => status === 'Compensated' || status === 'Revoked')
  return undone ? 'compensated' : 'inconsistent'
}

/** The saga with its status and outcome as they follow from its facts and all of its activities. */
export function settleSaga(saga: Saga, activities: readonly ActivityFacts[]): Saga {
  const status = deriveSagaStatus(saga, activities)
  const outcome = deriveSagaOutcome(status, activities)
  if (status === saga.status && outcome === saga.outcome) return saga
  return { ...saga, status, outcome }
}

/**
 * Whether what an activity has become may change its saga's status or outcome, so that the other activities matter.
 * An ordinary event of an ordinary saga does not.
 */
export const concernsSaga = (
  saga: Saga,
  activity: Pick<ActivityFacts, 'finalAbort' | 'overtimeNamedSaga'>,
): boolean =>
  saga.endedAt !== null ||
  saga.status === 'Error' ||
  saga.status === 'Overtime' ||
  activity.finalAbort ||
  activity.overtimeNamedSaga
