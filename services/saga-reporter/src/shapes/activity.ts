import {
  type Activity,
  type ActivityStatus,
  activityStatuses,
  anomalies,
  defaultTenant,
  rankOf,
  type Saga,
  type SagaKey,
} from '@switchyard/domain/saga'
import type { Call } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ActivityView, ErrorText } from '../activities/store.js'
import { payloadShape, presentPayload } from './payload.js'

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
    error_fingerprint: z.string().nullable().describe('Equal for errors that differ in ids and numbers only'),
    compensation_given_up: z.boolean(),
    anomalies: z.array(z.enum(anomalies)),
    parameter: payloadShape.nullable(),
    result: payloadShape.nullable(),
  })
  .meta({ id: 'SagaActivity', description: 'An activity with all its details' })

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
    error_fingerprint: activity.errorFingerprint,
    compensation_given_up: activity.finalAbort,
    anomalies: activity.anomalies,
    parameter: presentPayload(activity.parameter, payloadUrl('parameter')),
    result: presentPayload(activity.result, payloadUrl('result')),
  }
}

const presentErrors = (errors: ErrorText | null) =>
  errors && { ...errors, truncated: Buffer.byteLength(errors.text) < errors.size }

type Facts = Pick<
  Activity,
  | 'status'
  | 'startedAt'
  | 'endedAt'
  | 'abortedAt'
  | 'overtimeAt'
  | 'revokedAt'
  | 'compensatingAt'
  | 'compensatedAt'
  | 'compensateAbortedAt'
  | 'executeAttempts'
  | 'compensateAttempts'
  | 'retryReports'
>

export interface PhaseView {
  /** Null until the phase has begun. */
  status: ActivityStatus | null
  /** Counted from 1; 0 until the phase has begun. */
  attempts: number
  /** Milliseconds from the reported start to the end; null while either is unknown. */
  durationMs: number | null
}

/**
 * Returns the two phases of an activity, because the status of a compensated activity does not show how the
 * execution ended.
 */
export function phasesOf(activity: Facts): { execute: PhaseView; compensate: PhaseView } {
  const compensating = rankOf(activity.status) > rankOf('Executed')
  const executeStatus = executeStatusOf(activity)
  return {
    execute: {
      status: executeStatus,
      attempts: executeStatus === null ? 0 : activity.executeAttempts + 1,
      durationMs: durationOf(activity.startedAt, executeStatus && endOf(activity, executeStatus)),
    },
    compensate: {
      status: compensating ? activity.status : null,
      attempts: compensating ? activity.compensateAttempts + 1 : 0,
      durationMs: durationOf(activity.compensatingAt, endOf(activity, activity.status)),
    },
  }
}

/** Returns the strongest reported status of the execution; null when none was reported. */
function executeStatusOf(activity: Facts): ActivityStatus | null {
  const { status } = activity
  if (rankOf(status) <= rankOf('Executed')) return status === 'NotStarted' ? null : status
  if (activity.endedAt) return 'Executed'
  if (activity.overtimeAt) return 'Overtime'
  if (activity.abortedAt) return 'ExecuteAborted'
  if (activity.revokedAt) return 'Revoked'
  return activity.startedAt || activity.executeAttempts > 0 ? 'Executing' : null
}

function endOf(activity: Facts, status: ActivityStatus): Date | null {
  const ends: Partial<Record<ActivityStatus, Date | null>> = {
    Executed: activity.endedAt,
    Overtime: activity.overtimeAt,
    ExecuteAborted: activity.abortedAt,
    Revoked: activity.revokedAt,
    Compensated: activity.compensatedAt,
    CompensateAborted: activity.compensateAbortedAt,
  }
  return ends[status] ?? null
}

/**
 * Returns a duration; null also when the events were received in reverse order, because their times then do
 * not show the duration.
 */
function durationOf(from: Date | null, to: Date | null): number | null {
  if (!from || !to || to < from) return null
  return to.getTime() - from.getTime()
}

/** Returns the milliseconds from a saga's start, or its first event, to its end. */
export const durationOfSaga = ({
  startedAt,
  firstSeenAt,
  endedAt,
}: Pick<Saga, 'startedAt' | 'firstSeenAt' | 'endedAt'>): number | null =>
  durationOf(startedAt ?? firstSeenAt, endedAt)

/**
 * A function that returns a link to a part of a saga, e.g. `activities/1/payloads/result`; each segment is
 * encoded.
 */
export type SagaUrl = (...parts: string[]) => string

export const sagaUrl =
  ({ baseUrl }: Pick<Call, 'baseUrl'>, { tenant, sagaId }: SagaKey): SagaUrl =>
  (...parts) => {
    const path = [sagaId, ...parts].map(encodeURIComponent).join('/')
    const query = tenant === defaultTenant ? '' : `?${new URLSearchParams({ tenant })}`
    return `${baseUrl}/api/v4/sagas/${path}${query}`
  }
