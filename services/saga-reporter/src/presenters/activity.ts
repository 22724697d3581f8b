import type { ActivityView, ErrorText } from '@switchyard/db'
import { activityStatuses, anomalies } from '@switchyard/domain/saga'
import { z } from 'zod'
import { phasesOf } from './activity-phases.js'
import { payloadShape, presentPayload } from './payload.js'
import type { SagaUrl } from './saga-url.js'

const status = z.enum(activityStatuses)
const errorsShape = z.object({ text: z.string(), size: z.int(), truncated: z.boolean() })

export const activityShape = z
  .object({
    activity_id: z.string(),
    order: z.int().nullable(),
    status,
    execute_status: status.nullable(),
    compensation_status: status.nullable(),
    execute_attempts: z.int(),
    compensate_attempts: z.int(),
    retry_reports: z.int(),
    time_out_seconds: z.number().nullable(),
    deadline_at: z.date().nullable(),
    add_time: z.date().nullable(),
    first_seen_at: z.date(),
    started_at: z.date().nullable(),
    ended_at: z.date().nullable(),
    aborted_at: z.date().nullable(),
    overtime_at: z.date().nullable(),
    revoked_at: z.date().nullable(),
    compensating_at: z.date().nullable(),
    compensated_at: z.date().nullable(),
    compensate_aborted_at: z.date().nullable(),
    last_event_at: z.date(),
    execute_duration_ms: z.int().nullable(),
    compensate_duration_ms: z.int().nullable(),
    execute_errors: errorsShape.nullable(),
    compensate_errors: errorsShape.nullable(),
    compensation_given_up: z.boolean(),
    anomalies: z.array(z.enum(anomalies)),
    parameter: payloadShape.nullable(),
    result: payloadShape.nullable(),
  })
  .meta({ id: 'SagaActivity', description: 'An activity with all that is known of it' })

/** An activity with all that is known of it. */
export function presentActivity(activity: ActivityView, url: SagaUrl): z.output<typeof activityShape> {
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
