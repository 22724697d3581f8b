export const rejectionMessages = {
  SAGA_ID_REQUIRED: 'sagaId must not be empty',
  ACTIVITY_ID_REQUIRED: 'activityId must not be empty',
  ID_INVALID: 'identifier is not valid',
  SERVICE_NAME_REQUIRED: 'serviceName must not be empty',
  SAGA_SERVICE_MISMATCH: 'saga belongs to another service',
  ACTIVITY_SAGA_MISMATCH: 'activity belongs to another saga',
  RETRY_STATUS_INVALID: 'status is not allowed here',
  RETRY_TYPE_INVALID: 'activityRetryType is not allowed here',
  RETRIES_INVALID: 'retries is not allowed here',
  ADD_TIME_INVALID: 'addTime is not a time',
  TIMEOUT_INVALID: 'timeOutSeconds must not be negative',
  ORDER_INVALID: 'order must not be negative',
  // Only strict mode uses the following codes.
  SAGA_UNKNOWN: 'saga has not been started',
  SAGA_ALREADY_ENDED: 'saga has ended',
  TRANSITION_NOT_ALLOWED: 'event does not follow from what is known',
} as const

export type RejectionCode = keyof typeof rejectionMessages

/**
 * The refusal of an event that can never be valid. The answer has isSuccess=false, and callers undo real work
 * because of it. So duplicates, late events and contradictions are never rejected.
 */
export class SagaRejection extends Error {
  readonly code: RejectionCode
  /** Value of the field `errors` of the answer: `CODE: detail`. */
  readonly errors: string

  constructor(code: RejectionCode, detail: string) {
    super(rejectionMessages[code])
    this.name = 'SagaRejection'
    this.code = code
    this.errors = `${code}: ${detail}`
  }
}
