import type { Activity, Payload, Saga, SagaEvent } from '@switchyard/contracts/saga-messages'
import type { ActivityView, LogEntry, PayloadHead, SagaView } from '@switchyard/db'
import { durationOfSaga, phasesOf } from './activity-phases.js'

/** A saga as a message of `switchyard.sagas.v1`. */
export const toSagaMessage = (saga: SagaView): Saga => ({
  sagaId: saga.id,
  tenant: saga.tenant,
  serviceName: saga.serviceName ?? undefined,
  status: saga.status,
  outcome: saga.outcome ?? undefined,
  late: saga.late,
  addTime: saga.addTime ?? undefined,
  startedAt: saga.startedAt ?? undefined,
  endedAt: saga.endedAt ?? undefined,
  expiresAt: saga.expiresAt ?? undefined,
  firstSeenAt: saga.firstSeenAt,
  lastEventAt: saga.lastEventAt,
  tags: saga.tags,
  flags: saga.flags.map(({ kind, activityId, since }) => ({
    kind,
    activityId: activityId ?? undefined,
    since,
  })),
  resolvedAt: saga.resolvedAt ?? undefined,
  resolvedBy: saga.resolvedBy ?? undefined,
  durationMs: durationOfSaga(saga) ?? undefined,
})

export function toActivityMessage(activity: ActivityView): Activity {
  const { execute, compensate } = phasesOf(activity)
  return {
    activityId: activity.id,
    order: activity.order ?? undefined,
    status: activity.status,
    timeOutSeconds: activity.timeOutSeconds ?? undefined,
    executeAttempts: execute.attempts,
    compensateAttempts: compensate.attempts,
    compensationGivenUp: activity.finalAbort,
    executeErrors: activity.executeErrors?.text,
    compensateErrors: activity.compensateErrors?.text,
    anomalies: activity.anomalies,
    ...timesOf(activity),
    lastEventAt: activity.lastEventAt,
    parameter: toPayloadMessage(activity.parameter),
    result: toPayloadMessage(activity.result),
    executeStatus: execute.status ?? undefined,
    compensationStatus: compensate.status ?? undefined,
    retryReports: activity.retryReports,
    firstSeenAt: activity.firstSeenAt,
    executeDurationMs: execute.durationMs ?? undefined,
    compensateDurationMs: compensate.durationMs ?? undefined,
    executeErrorsSize: activity.executeErrors?.size,
    compensateErrorsSize: activity.compensateErrors?.size,
  }
}

const timesOf = (activity: ActivityView) => ({
  deadlineAt: activity.deadlineAt ?? undefined,
  addTime: activity.addTime ?? undefined,
  startedAt: activity.startedAt ?? undefined,
  endedAt: activity.endedAt ?? undefined,
  abortedAt: activity.abortedAt ?? undefined,
  overtimeAt: activity.overtimeAt ?? undefined,
  revokedAt: activity.revokedAt ?? undefined,
  compensatingAt: activity.compensatingAt ?? undefined,
  compensatedAt: activity.compensatedAt ?? undefined,
  compensateAbortedAt: activity.compensateAbortedAt ?? undefined,
})

const toPayloadMessage = (payload: PayloadHead | null): Payload | undefined =>
  payload ? { head: payload.head, size: payload.size, sha256: payload.sha256 } : undefined

export const toEventMessage = (entry: LogEntry): SagaEvent => ({
  sequence: entry.sequence,
  tenant: entry.tenant,
  sagaId: entry.sagaId ?? undefined,
  activityId: entry.activityId ?? undefined,
  operation: entry.operation,
  result: entry.result,
  receivedAt: entry.receivedAt,
  eventTime: entry.eventTime ?? undefined,
  serviceName: entry.serviceName ?? undefined,
  status: entry.status ?? undefined,
  outcome: entry.outcome ?? undefined,
  activityStatus: entry.activityStatus ?? undefined,
})
