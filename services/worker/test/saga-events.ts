import { randomBytes } from 'node:crypto'
import type { Database } from '@switchyard/db'
import type { SagaEvent } from '@switchyard/domain/saga'
import { createSagaEventStore, type NewSagaEvent } from '@switchyard/saga-store'

export const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)

/** Returns an event in the form in which the reporter stores it. */
export const received = (event: SagaEvent, receivedAt: Date, tenant: string): NewSagaEvent => ({
  tenant,
  event,
  receivedAt,
  eventId: null,
  eventTime: null,
  contentKey: randomBytes(32),
  request: Buffer.from(''),
})

/** Reports events that were received in the past, in order, each `[event, seconds ago]`. */
export const report = (database: Database, events: [SagaEvent, number][], tenant = 'default') =>
  createSagaEventStore(database).record(
    events.map(([event, seconds]) => received(event, ago(seconds), tenant)),
  )

export const started = (sagaId: string, serviceName = 'orders'): SagaEvent => ({
  operation: 'SagaStarted',
  sagaId,
  serviceName,
  addTime: null,
})

export const ended = (sagaId: string, expiresAt: Date | null = null): SagaEvent => ({
  operation: 'SagaEnded',
  sagaId,
  serviceName: null,
  expiresAt,
})

export const executing = (sagaId: string, activityId: string, timeOutSeconds = 0): SagaEvent => ({
  operation: 'ActivityExecuteStarted',
  activityId,
  sagaId,
  timeOutSeconds,
  order: 1,
  parameterData: Buffer.from('{}'),
  addTime: null,
})

export const executed = (activityId: string, sagaId: string | null = null): SagaEvent => ({
  operation: 'ActivityEnded',
  activityId,
  sagaId,
  resultData: Buffer.from(''),
})

export const revoked = (activityId: string): SagaEvent => ({ operation: 'ActivityRevoked', activityId })

export const givenUp = (activityId: string, sagaId: string): SagaEvent => ({
  operation: 'ActivityCompensateAborted',
  activityId,
  sagaId,
  errors: 'no stock',
})

export const compensated = (activityId: string): SagaEvent => ({
  operation: 'ActivityCompensated',
  activityId,
})

export const retried = (activityId: string, retries: number): SagaEvent => ({
  operation: 'ActivityRetried',
  activityId,
  retryType: 'Execute',
  retries,
  status: 'Executing',
  statusNamed: false,
})
