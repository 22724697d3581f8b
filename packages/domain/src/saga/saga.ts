import type { Activity } from './activity.js'
import type { ActivityStatus } from './activity-status.js'

/** The tenant of callers that name none. */
export const defaultTenant = 'default'

/**
 * Returns a map key for an identifier of a tenant. Identifiers contain no control characters, so keys are
 * unique. The key in the default tenant is the identifier itself.
 */
export const keyInTenant = (tenant: string, id: string): string =>
  tenant === defaultTenant ? id : `${id}\0${tenant}`

/** Pending: only events of the saga's activities have been received. */
export const sagaStatuses = ['Pending', 'Started', 'Overtime', 'Ended', 'Error'] as const

export type SagaStatus = (typeof sagaStatuses)[number]

export const sagaOutcomes = ['succeeded', 'compensated', 'empty', 'inconsistent'] as const

export type SagaOutcome = (typeof sagaOutcomes)[number]

export interface SagaKey {
  tenant: string
  sagaId: string
}

/**
 * A saga: the facts that its events reported, and the status and outcome derived from them and from its
 * activities.
 */
export interface Saga {
  id: string
  serviceName: string | null
  status: SagaStatus
  /** Null until the saga has Ended. */
  outcome: SagaOutcome | null
  /** The client's start time. */
  addTime: Date | null
  /** Null until the start of the saga was received. */
  startedAt: Date | null
  endedAt: Date | null
  expiresAt: Date | null
  /** An activity event was received after the saga had ended. */
  late: boolean
  /** When an operator last resolved the saga. Failures before that time do not cause the status Error. */
  resolvedAt: Date | null
  resolvedBy: string | null
  /** The parent saga: the first that an event named. Nothing may be known about it yet. */
  parentSagaId: string | null
  firstSeenAt: Date
  /** Time of the newest event. Ordinary activity events within the next ten seconds do not update it. */
  lastEventAt: Date
  /** Keys of the newest events of the saga: see `content-keys.ts`. */
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
  parentSagaId: null,
  firstSeenAt: receivedAt,
  lastEventAt: receivedAt,
  contentKeys: '',
})

/** Returns the saga with its parent, unless it has a parent already. A saga is never its own parent. */
export const linkToParent = (saga: Saga, parentSagaId: string | null): Saga =>
  parentSagaId === null || parentSagaId === saga.id || saga.parentSagaId !== null
    ? saga
    : { ...saga, parentSagaId }

/** The facts of an activity that a saga's status and outcome depend on. */
export type ActivityFacts = Pick<Activity, 'status' | 'finalAbort' | 'overtimeNamedSaga' | 'givenUpAt'>

/**
 * Returns the status of a saga. A compensation that was given up causes the status Error even after the end
 * of the saga.
 */
export function deriveSagaStatus(
  saga: Pick<Saga, 'startedAt' | 'endedAt' | 'resolvedAt'>,
  activities: readonly ActivityFacts[],
): SagaStatus {
  if (activities.some((activity) => isUnresolved(activity, saga.resolvedAt))) return 'Error'
  if (saga.endedAt) return 'Ended'
  if (activities.some((activity) => activity.overtimeNamedSaga && !isOvertimeOver(activity.status)))
    return 'Overtime'
  return saga.startedAt ? 'Started' : 'Pending'
}

/**
 * Returns whether a compensation was given up, and afterwards neither completed nor resolved by an operator.
 */
const isUnresolved = (activity: ActivityFacts, resolvedAt: Date | null) =>
  activity.finalAbort &&
  activity.status !== 'Compensated' &&
  !(resolvedAt && activity.givenUpAt && activity.givenUpAt <= resolvedAt)

const isOvertimeOver = (status: ActivityStatus) => status === 'Executed' || status === 'Compensated'

/** Returns the outcome of a saga; null unless its status is Ended. */
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

/** Returns the saga with the status and outcome derived from its facts and all of its activities. */
export function deriveSagaState(saga: Saga, activities: readonly ActivityFacts[]): Saga {
  const status = deriveSagaStatus(saga, activities)
  const outcome = deriveSagaOutcome(status, activities)
  if (status === saga.status && outcome === saga.outcome) return saga
  return { ...saga, status, outcome }
}

/**
 * Returns whether a changed activity may change its saga's status or outcome, so that the facts of all
 * activities are required.
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
