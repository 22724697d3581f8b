import { type Activity, type ActivityStatus, rankOf, type Saga } from '@switchyard/domain/saga'

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
  /** 1 is the first; 0 until the phase has begun. */
  attempts: number
  /** From its reported start to its end; null while either is unknown. */
  durationMs: number | null
}

/** The two phases of an activity. Once it is compensated, its status alone does not say how the execution ended. */
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

/** The strongest status of the execution that was reported; null when none was reported. */
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

/** Null also when the events were received in the opposite order, as their times then say nothing about the duration. */
export function durationOf(from: Date | null, to: Date | null): number | null {
  if (!from || !to || to < from) return null
  return to.getTime() - from.getTime()
}

/** The time from a saga's start, or its first event, to its end, in milliseconds. */
export const durationOfSaga = ({
  startedAt,
  firstSeenAt,
  endedAt,
}: Pick<Saga, 'startedAt' | 'firstSeenAt' | 'endedAt'>): number | null =>
  durationOf(startedAt ?? firstSeenAt, endedAt)
