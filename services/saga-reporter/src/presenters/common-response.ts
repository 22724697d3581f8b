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
