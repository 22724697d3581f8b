import { CommonResponse } from '@switchyard/contracts/saga'
import { type EventResult, eventResults, type SagaRejection } from '@switchyard/domain/saga'

const encode = (response: CommonResponse): Buffer => Buffer.from(CommonResponse.encode(response).finish())

/** There are five answers to all that is taken; each is made, and encoded, once. */
const recorded = new Map<EventResult, CommonResponse>(
  eventResults.map((message) => [message, { isSuccess: true, message, errors: '' }]),
)
const encoded = new Map([...recorded.values()].map((response) => [response, encode(response)]))

export const recordedResponse = (result: EventResult): CommonResponse =>
  recorded.get(result) as CommonResponse

export const rejectedResponse = ({ message, errors }: SagaRejection): CommonResponse => ({
  isSuccess: false,
  message,
  errors,
})

/** For clients that know no status: it could not be stored now, and may be sent again. */
export const unavailableResponse = ({ message }: Error): CommonResponse => ({
  isSuccess: false,
  message: 'temporarily unavailable',
  errors: `UNAVAILABLE: ${message}`,
})

/** As protobuf. What it returns belongs to everybody and must not be changed. */
export const encodeResponse = (response: CommonResponse): Buffer => encoded.get(response) ?? encode(response)
