import { type Activity, deriveAnomalies, unseenActivity } from './activity.js'
import { type ActivityStatus, rankOf, strongest } from './activity-status.js'
import type { ActivityEvent, ActivityRetried, EventResult } from './events.js'
import { sagaIdOf } from './events.js'
import { SagaRejection } from './rejection.js'

export interface AppliedActivityEvent {
  activity: Activity
  result: EventResult
}

/**
 * Adds what an event tells to an activity. Status is the strongest fact, so order and repetition of events do not
 * matter; only a retry of a higher attempt takes a status back. The given activity is not changed; when the event
 * told nothing new (`duplicate`), it is returned as it is.
 *
 * @param activity null when this is the first event about it.
 * @throws SagaRejection (ACTIVITY_SAGA_MISMATCH) when the event names another saga than the activity's.
 */
export function applyActivityEvent(
  activity: Activity | null,
  event: ActivityEvent,
  receivedAt: Date,
): AppliedActivityEvent {
  const before = activity ?? unseenActivity(event.activityId, receivedAt)
  const sagaId = sagaIdOf(event)
  if (sagaId && before.sagaId && sagaId !== before.sagaId) {
    throw new SagaRejection('ACTIVITY_SAGA_MISMATCH', `activity ${before.id} is part of another saga`)
  }
  const facts =
    event.operation === 'ActivityRetried'
      ? addRetry(before, event, receivedAt)
      : addReport(before, event, receivedAt)
  const after = { ...facts, sagaId: before.sagaId ?? sagaId }
  const conflict = before.anomalies.includes('result_conflict') || hasOtherResult(before, event)
  const anomalies = deriveAnomalies(after, conflict)
  after.anomalies = anomalies.join() === before.anomalies.join() ? before.anomalies : anomalies
  if (activity && !differs(activity, after)) return { activity, result: 'duplicate' }
  after.lastEventAt = receivedAt > before.lastEventAt ? receivedAt : before.lastEventAt
  return { activity: after, result: resultOf(before, after, claimOf(event)) }
}

/** The status that an event claims. */
function claimOf(event: ActivityEvent): ActivityStatus {
  switch (event.operation) {
    case 'ActivityExecuteStarted':
      return 'Executing'
    case 'ActivityEnded':
      return 'Executed'
    case 'ActivityExecuteAborted':
      return 'ExecuteAborted'
    case 'ActivityExecuteOvertime':
      return 'Overtime'
    case 'ActivityRevoked':
      return 'Revoked'
    case 'ActivityCompensateAborted':
      return 'CompensateAborted'
    case 'ActivityCompensated':
      return 'Compensated'
    case 'ActivityRetried':
      return event.status
  }
}

type FactTime =
  | 'startedAt'
  | 'endedAt'
  | 'abortedAt'
  | 'overtimeAt'
  | 'revokedAt'
  | 'compensatingAt'
  | 'compensatedAt'
  | 'compensateAbortedAt'

const factTimes: Record<ActivityStatus, FactTime | null> = {
  NotStarted: null,
  // A retry report claims Executing too, but only ActivityExecuteStarted says when the activity began.
  Executing: null,
  Executed: 'endedAt',
  ExecuteAborted: 'abortedAt',
  Overtime: 'overtimeAt',
  Revoked: 'revokedAt',
  Compensating: 'compensatingAt',
  Compensated: 'compensatedAt',
  CompensateAborted: 'compensateAbortedAt',
}

/** Notes a claim: the time of the first one, or of the one that made it the activity's status again. */
function addClaim(activity: Activity, claim: ActivityStatus, receivedAt: Date): Activity {
  const status = strongest(activity.status, claim)
  const next = { ...activity, status, finalAbort: activity.finalAbort && status !== 'Compensated' }
  const time = factTimes[claim]
  if (time && (activity[time] === null || status !== activity.status)) next[time] = receivedAt
  return next
}

function addReport(
  before: Activity,
  event: Exclude<ActivityEvent, ActivityRetried>,
  receivedAt: Date,
): Activity {
  const next = addClaim(before, claimOf(event), receivedAt)
  switch (event.operation) {
    case 'ActivityExecuteStarted':
      return {
        ...next,
        startedAt: before.startedAt ?? receivedAt,
        order: before.order ?? event.order,
        timeOutSeconds: before.timeOutSeconds ?? event.timeOutSeconds,
        parameterData: before.parameterData ?? event.parameterData,
        addTime: before.addTime ?? event.addTime,
      }
    case 'ActivityEnded':
      return { ...next, resultData: before.resultData ?? event.resultData }
    case 'ActivityExecuteAborted':
      // The errors of an overtime say more than those of an abort that was overtaken by it.
      return before.overtimeAt && next.status !== 'ExecuteAborted'
        ? next
        : { ...next, executeErrors: event.errors }
    case 'ActivityExecuteOvertime':
      return {
        ...next,
        executeErrors: event.errors,
        overtimeNamedSaga: before.overtimeNamedSaga || event.sagaId !== null,
      }
    case 'ActivityCompensateAborted': {
      const gaveUp = event.sagaId !== null && next.status !== 'Compensated'
      return { ...next, compensateErrors: event.errors, finalAbort: next.finalAbort || gaveUp }
    }
    default:
      return next
  }
}

/**
 * A higher attempt reopens its phase and then claims its status; the stored attempt only claims; a lower one is old
 * news. A report with neither number nor status is counted beside that.
 */
function addRetry(before: Activity, event: ActivityRetried, receivedAt: Date): Activity {
  const attempts = event.retryType === 'Execute' ? 'executeAttempts' : 'compensateAttempts'
  if (event.retries < before[attempts]) return before
  const reports = event.retries === 0 && !event.statusNamed ? 1 : 0
  const counted = { ...before, [attempts]: event.retries, retryReports: before.retryReports + reports }
  if (event.retries === before[attempts]) return addClaim(counted, event.status, receivedAt)
  const [reopened, stronger] =
    event.retryType === 'Execute'
      ? (['Executing', 'Executed'] as const)
      : (['Compensating', 'Compensated'] as const)
  if (rankOf(before.status) < rankOf(stronger)) counted.status = reopened
  return addClaim(counted, event.status, receivedAt)
}

const hasOtherResult = (before: Activity, event: ActivityEvent): boolean =>
  event.operation === 'ActivityEnded' &&
  before.resultData !== null &&
  Buffer.compare(before.resultData, event.resultData) !== 0

const differs = (a: Activity, b: Activity): boolean =>
  (Object.keys(b) as (keyof Activity)[]).some((key) => a[key] !== b[key])

function resultOf(before: Activity, after: Activity, claim: ActivityStatus): EventResult {
  // Once it is being compensated, a contradiction about the execution is merely late.
  const executionOpen = rankOf(before.status) <= rankOf('Executed')
  if (executionOpen && after.anomalies.some((anomaly) => !before.anomalies.includes(anomaly)))
    return 'conflict recorded'
  if (after.sagaId === null) return 'parked'
  return rankOf(claim) < rankOf(after.status) ? 'late' : 'recorded'
}
