import type { ActivityView, ErrorText } from '@switchyard/db'
import type { SagaUrl } from '../routes/saga-url.js'
import { phasesOf } from './activity-phases.js'
import { presentPayload } from './payload.js'

/** An activity with all that is known of it. */
export function presentActivity(activity: ActivityView, url: SagaUrl) {
  const { execute, compensate } = phasesOf(activity)
  const payloadUrl = (kind: string) => url('activities', activity.id, 'payloads', kind)
  return {
    activity_id: activity.id,
    order: activity.order,
    status: activity.status,
    execute_status: execute.status,
    compensation_status: compensate.status,
    execute_attempts: execute.attempts,
    compensate_attempts: compensate.attempts,
    retry_reports: activity.retryReports,
    time_out_seconds: activity.timeOutSeconds,
    deadline_at: activity.deadlineAt,
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
    execute_duration_ms: execute.durationMs,
    compensate_duration_ms: compensate.durationMs,
    execute_errors: presentErrors(activity.executeErrors),
    compensate_errors: presentErrors(activity.compensateErrors),
    compensation_given_up: activity.finalAbort,
    anomalies: activity.anomalies,
    parameter: presentPayload(activity.parameter, payloadUrl('parameter')),
    result: presentPayload(activity.result, payloadUrl('result')),
  }
}

const presentErrors = (errors: ErrorText | null) =>
  errors && { ...errors, truncated: Buffer.byteLength(errors.text) < errors.size }
