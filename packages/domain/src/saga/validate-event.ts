import { storableText } from '../texts.js'
import type {
  ActivityEvent,
  ActivityRetried,
  OperatorResolutionUndone,
  OperatorResolved,
  SagaEnded,
  SagaEvent,
  SagaStarted,
} from './events.js'
import {
  notNegative,
  optionalAddTime,
  optionalId,
  requiredId,
  retryStatus,
  retryType,
} from './field-rules.js'
import { parseEventTime } from './parse-event-time.js'
import { SagaRejection } from './rejection.js'

/** The decoded requests of the operations, with the field names of the contract. */
export type RawSagaEvent =
  /** `addTime` is not in the contract, but some clients send it as field 3. */
  | { operation: 'SagaStarted'; sagaId: string; serviceName: string; addTime?: string }
  | { operation: 'SagaEnded'; sagaId: string; serviceName: string }
  /** Not in the contract: an operator sends it over HTTP. */
  | { operation: 'OperatorResolved'; sagaId: string; author: string; note: string }
  | RawResolutionUndone
  | RawActivityEvent

/** Times as ISO 8601. */
interface RawResolutionUndone {
  operation: 'OperatorResolutionUndone'
  sagaId: string
  author: string
  resolvedAt: string
  previousResolvedAt: string | null
  previousResolvedBy: string | null
}

export type RawActivityEvent =
  | RawExecuteStarted
  | RawRetried
  | { operation: 'ActivityExecuteAborted'; activityId: string; errors: string }
  | { operation: 'ActivityCompensateAborted'; activityId: string; sagaId: string; errors: string }
  | { operation: 'ActivityEnded'; activityId: string; sagaId: string; resultData: Uint8Array }
  | { operation: 'ActivityCompensated'; activityId: string }
  | { operation: 'ActivityExecuteOvertime'; activityId: string; sagaId: string; errors: string }
  | { operation: 'ActivityRevoked'; activityId: string }

interface RawExecuteStarted {
  operation: 'ActivityExecuteStarted'
  activityId: string
  sagaId: string
  timeOutSeconds: number
  parameterData: Uint8Array
  order: number
  addTime: string
}

interface RawRetried {
  operation: 'ActivityRetried'
  activityId: string
  status: string
  retries: number
  activityRetryType: number
}

export interface ValidationOptions {
  /** Refuse SagaStarted without a service name; default true. */
  serviceNameRequired?: boolean
}

/**
 * Validates a request and converts it into an event.
 *
 * @throws SagaRejection when the request is invalid
 */
export function validateSagaEvent(raw: RawSagaEvent, options: ValidationOptions = {}): SagaEvent {
  if (raw.operation === 'SagaStarted') return sagaStarted(raw, options.serviceNameRequired ?? true)
  if (raw.operation === 'SagaEnded') return sagaEnded(raw)
  if (raw.operation === 'OperatorResolved') return operatorResolved(raw)
  if (raw.operation === 'OperatorResolutionUndone') return resolutionUndone(raw)
  return activityEvent(raw)
}

function sagaStarted(raw: RawSagaEvent & { operation: 'SagaStarted' }, nameRequired: boolean): SagaStarted {
  const sagaId = requiredId('sagaId', raw.sagaId, 'SAGA_ID_REQUIRED')
  const serviceName = optionalId('serviceName', raw.serviceName)
  if (!serviceName && nameRequired) throw new SagaRejection('SERVICE_NAME_REQUIRED', 'serviceName is blank')
  return { operation: raw.operation, sagaId, serviceName, addTime: optionalAddTime(raw.addTime ?? '') }
}

/** Converts a SagaEndedRequest. Some clients send an expiry in its field for the service name. */
function sagaEnded(raw: RawSagaEvent & { operation: 'SagaEnded' }): SagaEnded {
  const sagaId = requiredId('sagaId', raw.sagaId, 'SAGA_ID_REQUIRED')
  const expiresAt = parseEventTime(raw.serviceName)
  const serviceName = expiresAt ? null : optionalId('serviceName', raw.serviceName)
  return { operation: raw.operation, sagaId, serviceName, expiresAt }
}

const operatorResolved = (raw: RawSagaEvent & { operation: 'OperatorResolved' }): OperatorResolved => ({
  operation: raw.operation,
  sagaId: requiredId('sagaId', raw.sagaId, 'SAGA_ID_REQUIRED'),
  author: storableText(raw.author),
  note: storableText(raw.note),
})

const resolutionUndone = (raw: RawResolutionUndone): OperatorResolutionUndone => ({
  operation: raw.operation,
  sagaId: requiredId('sagaId', raw.sagaId, 'SAGA_ID_REQUIRED'),
  author: storableText(raw.author),
  resolvedAt: new Date(raw.resolvedAt),
  previousResolvedAt: raw.previousResolvedAt === null ? null : new Date(raw.previousResolvedAt),
  previousResolvedBy: raw.previousResolvedBy,
})

function activityEvent(raw: RawActivityEvent): ActivityEvent {
  const activityId = requiredId('activityId', raw.activityId, 'ACTIVITY_ID_REQUIRED')
  switch (raw.operation) {
    case 'ActivityExecuteStarted':
      return {
        operation: raw.operation,
        activityId,
        sagaId: requiredId('sagaId', raw.sagaId, 'SAGA_ID_REQUIRED'),
        timeOutSeconds: notNegative('timeOutSeconds', raw.timeOutSeconds, 'TIMEOUT_INVALID'),
        order: notNegative('order', raw.order, 'ORDER_INVALID'),
        parameterData: raw.parameterData,
        addTime: optionalAddTime(raw.addTime),
      }
    case 'ActivityRetried':
      return activityRetried(raw, activityId)
    case 'ActivityEnded':
      return {
        operation: raw.operation,
        activityId,
        sagaId: optionalId('sagaId', raw.sagaId),
        resultData: raw.resultData,
      }
    case 'ActivityExecuteAborted':
      return { operation: raw.operation, activityId, errors: storableText(raw.errors) }
    case 'ActivityCompensateAborted':
    case 'ActivityExecuteOvertime':
      return {
        operation: raw.operation,
        activityId,
        sagaId: optionalId('sagaId', raw.sagaId),
        errors: storableText(raw.errors),
      }
    case 'ActivityCompensated':
    case 'ActivityRevoked':
      return { operation: raw.operation, activityId }
  }
}

function activityRetried(raw: RawRetried, activityId: string): ActivityRetried {
  const type = retryType(raw.activityRetryType)
  const named = retryStatus(raw.status, type)
  return {
    operation: raw.operation,
    activityId,
    retryType: type,
    retries: notNegative('retries', raw.retries, 'RETRIES_INVALID'),
    status: named ?? (type === 'Execute' ? 'Executing' : 'Compensating'),
    statusNamed: named !== null,
  }
}
