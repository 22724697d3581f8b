import type { CommonResponse } from '@switchyard/contracts/saga'
import type { EventResult, SagaRejection } from '@switchyard/domain/saga'

export const recordedResponse = (result: EventResult): CommonResponse => ({
  isSuccess: true,
  message: result,
  errors: '',
})

export const rejectedResponse = ({ message, errors }: SagaRejection): CommonResponse => ({
  isSuccess: false,
  message,
  errors,
})

/** For clients that know no status: the event could not be stored now, and may be sent again. */
export const unavailableResponse = ({ message }: Error): CommonResponse => ({
  isSuccess: false,
  message: 'temporarily unavailable',
  errors: `UNAVAILABLE: ${message}`,
})
