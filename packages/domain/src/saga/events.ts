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

export interface ActivityExecuteStarted {
  operation: 'ActivityExecuteStarted'
  activityId: string
  sagaId: string
  /** 0 is no deadline. */
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
  /** What the retry came to; Executing or Compensating when the client said nothing. */
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
  /** Named when the client gives the compensation up, null while it will try again. */
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

export type SagaLifecycleEvent = SagaStarted | SagaEnded

export type ActivityEvent =
  | ActivityExecuteStarted
  | ActivityRetried
  | ActivityExecuteAborted
  | ActivityCompensateAborted
  | ActivityEnded
  | ActivityCompensated
  | ActivityExecuteOvertime
  | ActivityRevoked

/** One decoded, valid lifecycle event: one kind for each operation of the contract. */
export type SagaEvent = SagaLifecycleEvent | ActivityEvent

/** What the caller is told of an event that was taken. */
export type EventResult = 'recorded' | 'duplicate' | 'late' | 'parked' | 'conflict recorded'

/** The saga an event names, or null. */
export const sagaIdOf = (event: SagaEvent): string | null => ('sagaId' in event ? event.sagaId : null)
