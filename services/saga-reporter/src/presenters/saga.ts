import type { Saga, SagaActivityDetail } from '@switchyard/db'
import { presentPayload } from './payload.js'

/** A saga in a list. */
export const presentSaga = (saga: Saga) => ({
  saga_id: saga.id,
  tenant: saga.tenant,
  service_name: saga.serviceName,
  status: saga.status,
  outcome: saga.outcome,
  late: saga.late,
  add_time: saga.addTime,
  started_at: saga.startedAt,
  ended_at: saga.endedAt,
  expires_at: saga.expiresAt,
  first_seen_at: saga.firstSeenAt,
  last_event_at: saga.lastEventAt,
})

/** One saga with its activities. */
export const presentSagaDetail = (saga: Saga, activities: SagaActivityDetail[]) => ({
  ...presentSaga(saga),
  activities: activities.map(presentActivity),
})

const presentActivity = (activity: SagaActivityDetail) => ({
  activity_id: activity.id,
  order: activity.order,
  status: activity.status,
  execute_attempts: activity.executeAttempts,
  compensate_attempts: activity.compensateAttempts,
  retry_reports: activity.retryReports,
  time_out_seconds: activity.timeOutSeconds,
  add_time: activity.addTime,
  first_seen_at: activity.firstSeenAt,
  started_at: activity.startedAt,
  ended_at: activity.endedAt,
  aborted_at: activity.abortedAt,
  overtime_at: activity.overtimeAt,
  revoked_at: activity.revokedAt,
  compensating_at: activity.compensatingAt,
  compensated_at: activity.compensatedAt,
  compensate_aborted_at: activity.compensateAbortedAt,
  last_event_at: activity.lastEventAt,
  execute_errors: activity.executeErrors,
  compensate_errors: activity.compensateErrors,
  compensation_given_up: activity.finalAbort,
  anomalies: activity.anomalies,
  parameter: presentPayload(activity.parameter),
  result: presentPayload(activity.result),
})
