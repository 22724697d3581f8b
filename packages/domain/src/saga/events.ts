import type { ActivityStatus } from './activity-status.js'

export interface SagaStarted {
  operation: 'SagaStarted'
  sagaId: string
  /** Null only when blank names are allowed. */
  serviceName: string | null
  addTime: Date | null
}

/** The request has one text field, which holds either the service name or the expiry. */
export interface SagaEnded {
  operation: 'SagaEnded'
  sagaId: string
  serviceName: string | null
  expiresAt: Date | null
}

/** The original size and hash of the payload or errors of an event of which only the beginning is stored. */
export interface Cut {
  /** Size in bytes. */
  size: number
  sha256: Uint8Array
}

/**
 * An operator has resolved the failures of a saga. The event is not part of the gRPC contract, but part of
 * the event log.
 */
export interface OperatorResolved {
  operation: 'OperatorResolved'
  sagaId: string
  author: string
  note: string
}

/** An operator has undone a resolution. Like {@link OperatorResolved}, it is part of the event log only. */
export interface OperatorResolutionUndone {
  operation: 'OperatorResolutionUndone'
  sagaId: string
  author: string
  /** The resolution that is undone: when the saga was resolved. */
  resolvedAt: Date
  /** The resolution that the saga had before; null when it had none. */
  previousResolvedAt: Date | null
  previousResolvedBy: string | null
}

export interface ActivityExecuteStarted {
  operation: 'ActivityExecuteStarted'
  activityId: string
  sagaId: string
  /** 0: no deadline. */
  timeOutSeconds: number
  order: number
  parameterData: Uint8Array
  addTime: Date | null
}

export interface ActivityRetried {
  operation: 'ActivityRetried'
  activityId: string
  retryType: RetryType
  retries: number
  /** The result of the retry; Executing or Compensating when the client names none. */
  status: ActivityStatus
  statusNamed: boolean
}

export type RetryType = 'Execute' | 'Compensate'

export interface ActivityExecuteAborted {
  operation: 'ActivityExecuteAborted'
  activityId: string
  errors: string
}

export interface ActivityCompensateAborted {
  operation: 'ActivityCompensateAborted'
  activityId: string
  /** Set when the client gives up the compensation; null when it will try again. */
  sagaId: string | null
  errors: string
}

export interface ActivityEnded {
  operation: 'ActivityEnded'
  activityId: string
  sagaId: string | null
  resultData: Uint8Array
}

export interface ActivityCompensated {
  operation: 'ActivityCompensated'
  activityId: string
}

export interface ActivityExecuteOvertime {
  operation: 'ActivityExecuteOvertime'
  activityId: string
  sagaId: string | null
  errors: string
}

export interface ActivityRevoked {
  operation: 'ActivityRevoked'
  activityId: string
}

/** The events that an operator causes. Callers cannot report them. */
export type OperatorEvent = OperatorResolved | OperatorResolutionUndone

export type SagaLifecycleEvent = SagaStarted | SagaEnded | OperatorEvent

export type ActivityEvent = (
  | ActivityExecuteStarted
  | ActivityRetried
  | ActivityExecuteAborted
  | ActivityCompensateAborted
  | ActivityEnded
  | ActivityCompensated
  | ActivityExecuteOvertime
  | ActivityRevoked
) & {
  /** Unset when the payload or the errors are stored whole, and for an event without any. */
  cut?: Cut
}

/** A decoded, valid event: one type for each operation of the contract, and those of operators. */
export type SagaEvent = SagaLifecycleEvent | ActivityEvent

/** The results of accepted events, as the caller gets them. */
const eventResults = ['recorded', 'duplicate', 'late', 'parked', 'conflict recorded'] as const

export type EventResult = (typeof eventResults)[number]

/** The id of the saga that an event names, or null. */
export const sagaIdOf = (event: SagaEvent): string | null => ('sagaId' in event ? event.sagaId : null)

/** What is true of every event of an operation. */
interface Operation {
  /** Callers cannot report it. */
  isOfOperator?: true
  /** The status that it claims for its activity; unset for a saga, and for a retry, which names a status. */
  claim?: ActivityStatus
  /** The phase whose attempt an event names; unset for a retry, which names its own, and for a start. */
  phase?: RetryType
  /** Whether it may change the status of any saga, so that the facts of all activities are required. */
  needsFacts?: true
  /** Whether a saga may be Ended, Error or resolved because of it. */
  mayFinishSaga?: true
}

/** The one list of operations: those of the contract in their order, then those of operators. */
export const operations: Record<SagaEvent['operation'], Operation> &
  Record<Exclude<ActivityEvent, ActivityRetried>['operation'], { claim: ActivityStatus }> = {
  SagaStarted: {},
  SagaEnded: { needsFacts: true, mayFinishSaga: true },
  ActivityExecuteStarted: { claim: 'Executing' },
  ActivityRetried: {},
  ActivityExecuteAborted: { claim: 'ExecuteAborted', phase: 'Execute' },
  ActivityCompensateAborted: {
    claim: 'CompensateAborted',
    phase: 'Compensate',
    needsFacts: true,
    mayFinishSaga: true,
  },
  ActivityEnded: { claim: 'Executed', phase: 'Execute' },
  ActivityCompensated: { claim: 'Compensated', phase: 'Compensate', mayFinishSaga: true },
  ActivityExecuteOvertime: { claim: 'Overtime', phase: 'Execute', needsFacts: true },
  ActivityRevoked: { claim: 'Revoked', phase: 'Execute' },
  OperatorResolved: { isOfOperator: true, needsFacts: true, mayFinishSaga: true },
  OperatorResolutionUndone: { isOfOperator: true, needsFacts: true },
}

export const operationNames = Object.keys(operations) as [SagaEvent['operation'], ...SagaEvent['operation'][]]

export const isOperatorEvent = (event: SagaEvent): event is OperatorEvent =>
  operations[event.operation].isOfOperator === true
