import type { ActivityStatus } from './activity-status.js'

export interface SagaStarted {
  operation: 'SagaStarted'
  sagaId: string
  /** Null only where blank names are allowed. */
  serviceName: string | null
  addTime: Date | null
}

/** The wire has one text for both; whichever it could be read as is set. */
export interface SagaEnded {
  operation: 'SagaEnded'
  sagaId: string
  serviceName: string | null
  expiresAt: Date | null
}

/** What a payload or text was of which only the head is kept. */
export interface Cut {
  /** Bytes of the whole. */
  size: number
  sha256: Uint8Array
}

/** An operator's: the failures of a saga are seen to. Not of the contract, but of the log like every other event. */
export interface OperatorResolved {
  operation: 'OperatorResolved'
  sagaId: string
  author: string
  note: string
}

export interface ActivityExecuteStarted {
  operation: 'ActivityExecuteStarted'
  activityId: string
  sagaId: string
  /** 0 is no deadline. */
  timeOutSeconds: number
  order: number
  parameterData: Uint8Array
  parameterCut?: Cut | null
  addTime: Date | null
}

export interface ActivityRetried {
  operation: 'ActivityRetried'
  activityId: string
  retryType: RetryType
  retries: number
  /** What the retry came to; Executing or Compensating when the client said nothing. */
  status: ActivityStatus
  statusNamed: boolean
}

export type RetryType = 'Execute' | 'Compensate'

export interface ActivityExecuteAborted {
  operation: 'ActivityExecuteAborted'
  activityId: string
  errors: string
  errorsCut?: Cut | null
}

export interface ActivityCompensateAborted {
  operation: 'ActivityCompensateAborted'
  activityId: string
  /** Named when the client gives the compensation up, null while it will try again. */
  sagaId: string | null
  errors: string
  errorsCut?: Cut | null
}

export interface ActivityEnded {
  operation: 'ActivityEnded'
  activityId: string
  sagaId: string | null
  resultData: Uint8Array
  resultCut?: Cut | null
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
  errorsCut?: Cut | null
}

export interface ActivityRevoked {
  operation: 'ActivityRevoked'
  activityId: string
}

export type SagaLifecycleEvent = SagaStarted | SagaEnded | OperatorResolved

export type ActivityEvent =
  | ActivityExecuteStarted
  | ActivityRetried
  | ActivityExecuteAborted
  | ActivityCompensateAborted
  | ActivityEnded
  | ActivityCompensated
  | ActivityExecuteOvertime
  | ActivityRevoked

/** One decoded, valid lifecycle event: one kind for each operation of the contract, and an operator's. */
export type SagaEvent = SagaLifecycleEvent | ActivityEvent

/** What the caller is told of an event that was taken. */
export const eventResults = ['recorded', 'duplicate', 'late', 'parked', 'conflict recorded'] as const

export type EventResult = (typeof eventResults)[number]

/** The saga an event names, or null. */
export const sagaIdOf = (event: SagaEvent): string | null => ('sagaId' in event ? event.sagaId : null)
