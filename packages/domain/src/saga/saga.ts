import type { Activity } from './activity.js'
import type { ActivityStatus } from './activity-status.js'

/** Pending: only events of its activities have been received. */
export const sagaStatuses = ['Pending', 'Started', 'Overtime', 'Ended', 'Error'] as const

export type SagaStatus = (typeof sagaStatuses)[number]

export type SagaOutcome = 'succeeded' | 'compensated' | 'empty' | 'inconsistent'

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
  firstSeenAt: Date
  lastEventAt: Date
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
  firstSeenAt: receivedAt,
  lastEventAt: receivedAt,
})

/** What a saga's status and outcome depend on of each of its activities. */
export type ActivityFacts = Pick<Activity, 'status' | 'finalAbort' | 'overtimeNamedSaga'>

/** A saga's status; an ended saga never hides a compensation that was given up. */
export function deriveSagaStatus(
  saga: Pick<Saga, 'startedAt' | 'endedAt'>,
  activities: readonly ActivityFacts[],
): SagaStatus {
  if (activities.some((activity) => activity.finalAbort && activity.status !== 'Compensated')) return 'Error'
  if (saga.endedAt) return 'Ended'
  if (activities.some((activity) => activity.overtimeNamedSaga && !overtimeIsSettled(activity.status)))
    return 'Overtime'
  return saga.startedAt ? 'Started' : 'Pending'
}

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
  return { ...saga, status, outcome: deriveSagaOutcome(status, activities) }
}
