import {
  ActivityRetriedRequest_ActivityRetryType as RetryType,
  type SagaService,
} from '@switchyard/contracts/saga'
import { errorText } from './error-text.js'

/** The optional fields of any event. */
export interface EventOptions {
  /** When the event happened; unset: now. */
  time?: Date
  /** The attempt of the activity that the event is about; the first execution is 0. */
  attempt?: number
  /** Business keys to find the saga by, e.g. `{ order: '42' }`: up to 16. */
  tags?: Record<string, string>
  /** W3C trace context, which links the saga to its trace. */
  traceParent?: string
  /** The parent saga, which began the saga of the event. */
  parentSagaId?: string
}

export interface SagaEvent extends EventOptions {
  sagaId: string
}

export interface SagaStarted extends SagaEvent {
  /** Unset: the service of the client. */
  serviceName?: string
}

export interface ActivityEvent extends SagaEvent {
  activityId: string
}

export interface ActivityExecuteStarted extends ActivityEvent {
  /** Position among the saga's activities, from 0. */
  order?: number
  /** Seconds after which the activity is overdue; 0: never. */
  timeOutSeconds?: number
  /** Bytes as they are, text as UTF-8, anything else as JSON. */
  parameter?: unknown
}

export interface ActivityEnded extends ActivityEvent {
  /** Bytes as they are, text as UTF-8, anything else as JSON. */
  result?: unknown
}

export interface ActivityAborted extends ActivityEvent {
  /** The error: an Error is reported with its stack, its code and the errors inside it; a text as it is. */
  error?: unknown
}

export interface ActivityCompensateAborted extends ActivityAborted {
  /** `true`: the orchestrator gives up, and the saga becomes an Error. */
  final: boolean
}

export interface ActivityRetried extends ActivityEvent {
  phase: 'execute' | 'compensate'
  /** Number of the retry, from 1. */
  retries: number
  /** Status of the activity after the retry, when it is known. */
  status?: string
}

type Methods = typeof SagaService

/** The operation of an event and its request: `sagaStarted`, … */
export interface EncodedEvent {
  operation: keyof Methods
  request: object
}

type Request<Name extends keyof Methods> = Parameters<Methods[Name]['requestSerialize']>[0]

const encode = <Name extends keyof Methods>(operation: Name, request: Request<Name>): EncodedEvent => ({
  operation,
  request,
})

/** The operations. They throw when a payload cannot be written as JSON, and when no service is named. */
export const encoders = {
  sagaStarted: (event: SagaStarted, serviceName: string): EncodedEvent =>
    encode('sagaStarted', { sagaId: event.sagaId, serviceName: nameOf(event.serviceName ?? serviceName) }),
  sagaEnded: (event: SagaEvent): EncodedEvent =>
    encode('sagaEnded', { sagaId: event.sagaId, serviceName: '' }),
  activityExecuteStarted: (event: ActivityExecuteStarted): EncodedEvent =>
    encode('activityExecuteStarted', {
      activityId: event.activityId,
      sagaId: event.sagaId,
      timeOutSeconds: event.timeOutSeconds ?? 0,
      parameterData: payload(event.parameter),
      order: event.order ?? 0,
      addTime: (event.time ?? new Date()).toISOString(),
    }),
  activityRetried: (event: ActivityRetried): EncodedEvent =>
    encode('activityRetried', {
      activityId: event.activityId,
      status: event.status ?? '',
      retries: event.retries,
      activityRetryType: event.phase === 'execute' ? RetryType.Execute : RetryType.Compensate,
    }),
  activityExecuteAborted: (event: ActivityAborted): EncodedEvent =>
    encode('activityExecuteAborted', { activityId: event.activityId, errors: errorText(event.error) }),
  activityCompensateAborted: (event: ActivityCompensateAborted): EncodedEvent =>
    encode('activityCompensateAborted', {
      activityId: event.activityId,
      // In the contract, a named saga means that the orchestrator gives up.
      sagaId: event.final ? event.sagaId : '',
      errors: errorText(event.error),
    }),
  activityEnded: (event: ActivityEnded): EncodedEvent =>
    encode('activityEnded', {
      activityId: event.activityId,
      sagaId: event.sagaId,
      resultData: payload(event.result),
    }),
  activityCompensated: (event: ActivityEvent): EncodedEvent =>
    encode('activityCompensated', { activityId: event.activityId }),
  activityExecuteOvertime: (event: ActivityAborted): EncodedEvent =>
    encode('activityExecuteOvertime', {
      activityId: event.activityId,
      sagaId: event.sagaId,
      errors: errorText(event.error),
    }),
  activityRevoked: (event: ActivityEvent): EncodedEvent =>
    encode('activityRevoked', { activityId: event.activityId }),
} as const

/**
 * Returns the name of the service.
 *
 * @throws TypeError when neither the event nor the client names a service
 */
function nameOf(serviceName: unknown): string {
  if (typeof serviceName !== 'string') throw new TypeError('serviceName is not a text')
  return serviceName
}

function payload(value: unknown): Buffer {
  if (value === undefined) return Buffer.alloc(0)
  // A copy, because the caller may change its bytes while the event waits.
  if (value instanceof Uint8Array) return Buffer.from(value)
  return Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}
