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
 * The event that an operator has resolved the failures of a saga. It is in the event log, but not in the gRPC
 * contract.
 */
export interface OperatorResolved {
  operation: 'OperatorResolved'
  sagaId: string
  author: string
  note: string
}

/**
 * The event that an operator has undone a resolution. Like {@link OperatorResolved}, it is only in the event
 * log.
 */
export interface OperatorResolutionUndone {
  operation: 'OperatorResolutionUndone'
  sagaId: string
  author: string
  /** Time of the resolution that is undone. */
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

/** A decoded, valid event: one type for each operation of the contract and for each event of operators. */
export type SagaEvent = SagaLifecycleEvent | ActivityEvent

/** The result of an accepted event, as the caller receives it. */
export type EventResult = 'recorded' | 'duplicate' | 'late' | 'parked' | 'conflict recorded'

/** Returns the id of the saga that an event names, or null. */
export const sagaIdOf = (event: SagaEvent): string | null => ('sagaId' in event ? event.sagaId : null)

/** The properties that all events of an operation share. */
interface Operation {
  /** Set when only operators cause the event, so that callers cannot report it. */
  isOfOperator?: true
  /**
   * The status that the event claims for its activity. Unset for events of sagas, and for a retry, which
   * names a status itself.
   */
  claim?: ActivityStatus
  /** The phase whose attempt the event names. Unset for a retry, which names its own, and for a start. */
  phase?: RetryType
  /**
   * Set when the event may change the status of any saga, so that the facts of all activities are required.
   */
  needsFacts?: true
  /** Set when the event may make a saga Ended, Error or resolved. */
  mayFinishSaga?: true
}

/** The list of all operations: those of the contract in their order, then those of operators. */
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
