import {
  ActivityCompensateAbortedRequest,
  ActivityCompensatedRequest,
  ActivityEndedRequest,
  ActivityExecuteAbortedRequest,
  ActivityExecuteOvertimeRequest,
  ActivityExecuteStartedRequest,
  ActivityRetriedRequest,
  ActivityRevokedRequest,
  type MessageFns,
  SagaStartedRequest,
} from '@switchyard/contracts/saga'
import { addTimeOf } from '@switchyard/contracts/saga-add-time'
import { invalidParameters } from '@switchyard/domain'
import type { RawSagaEvent, SagaEvent } from '@switchyard/domain/saga'
import { z } from 'zod'

/**
 * Reads the request of one operation.
 *
 * @throws DomainError invalid-parameters when the bytes are no such message
 */
export type Decoder = (request: Uint8Array) => RawSagaEvent

type Codec<Message> = Pick<MessageFns<Message>, 'decode'>

const decoder =
  <Message>({ decode }: Codec<Message>, toEvent: (message: Message) => RawSagaEvent): Decoder =>
  (request) => {
    try {
      return toEvent(decode(request))
    } catch {
      throw invalidParameters(['the request is not a message of this operation'])
    }
  }

const resolved = z.object({ sagaId: z.string(), author: z.string(), note: z.string() })

function decodeResolved(request: Uint8Array): RawSagaEvent {
  try {
    return { operation: 'OperatorResolved', ...resolved.parse(JSON.parse(Buffer.from(request).toString())) }
  } catch {
    throw invalidParameters(['the request is not a message of this operation'])
  }
}

/** The decoder of each operation, for calls and for the log, which keeps requests as they came. */
export const decoders: Record<SagaEvent['operation'], Decoder> = {
  SagaStarted: decoder(SagaStartedRequest, (message) => ({
    operation: 'SagaStarted',
    sagaId: message.sagaId,
    serviceName: message.serviceName,
    addTime: addTimeOf(message),
  })),
  SagaEnded: decoder(SagaStartedRequest, ({ sagaId, serviceName }) => ({
    operation: 'SagaEnded',
    sagaId,
    serviceName,
  })),
  // Not of the contract: the log keeps it as JSON.
  OperatorResolved: decodeResolved,
  ActivityExecuteStarted: decoder(ActivityExecuteStartedRequest, (message) => ({
    operation: 'ActivityExecuteStarted',
    activityId: message.activityId,
    sagaId: message.sagaId,
    timeOutSeconds: message.timeOutSeconds,
    parameterData: message.parameterData,
    order: message.order,
    addTime: message.addTime,
  })),
  ActivityRetried: decoder(ActivityRetriedRequest, (message) => ({
    operation: 'ActivityRetried',
    activityId: message.activityId,
    status: message.status,
    retries: message.retries,
    activityRetryType: message.activityRetryType,
  })),
  ActivityExecuteAborted: decoder(ActivityExecuteAbortedRequest, ({ activityId, errors }) => ({
    operation: 'ActivityExecuteAborted',
    activityId,
    errors,
  })),
  ActivityCompensateAborted: decoder(ActivityCompensateAbortedRequest, ({ activityId, sagaId, errors }) => ({
    operation: 'ActivityCompensateAborted',
    activityId,
    sagaId,
    errors,
  })),
  ActivityEnded: decoder(ActivityEndedRequest, ({ activityId, sagaId, resultData }) => ({
    operation: 'ActivityEnded',
    activityId,
    sagaId,
    resultData,
  })),
  ActivityCompensated: decoder(ActivityCompensatedRequest, ({ activityId }) => ({
    operation: 'ActivityCompensated',
    activityId,
  })),
  ActivityExecuteOvertime: decoder(ActivityExecuteOvertimeRequest, ({ activityId, sagaId, errors }) => ({
    operation: 'ActivityExecuteOvertime',
    activityId,
    sagaId,
    errors,
  })),
  ActivityRevoked: decoder(ActivityRevokedRequest, ({ activityId }) => ({
    operation: 'ActivityRevoked',
    activityId,
  })),
}
