import { type Activity, deriveAnomalies, unseenActivity } from './activity.js'
import { type ActivityStatus, rankOf, strongest } from './activity-status.js'
import { errorFingerprint } from './error-fingerprint.js'
import {
  type ActivityEvent,
  type ActivityRetried,
  type Cut,
  type EventResult,
  operations,
  type RetryType,
  sagaIdOf,
} from './events.js'
import { SagaRejection } from './rejection.js'

export interface AppliedActivityEvent {
  activity: Activity
  result: EventResult
}

/**
 * Applies an event to an activity. The status is the strongest claim, so order and repetition of events do
 * not matter. Only a retry with a higher attempt replaces a status by a weaker one. The given activity is not
 * changed; it is returned when the event contains nothing new (`duplicate`).
 *
 * @param activity null: this is the first event of the activity
 * @param attempt the attempt of the event, if the sender names it. A lower attempt than the stored one makes
 * the event outdated, a higher one implies a retry.
 * @throws SagaRejection (ACTIVITY_SAGA_MISMATCH) when the event names another saga than that of the activity
 */
export function applyActivityEvent(
  activity: Activity | null,
  event: ActivityEvent,
  receivedAt: Date,
  attempt: number | null = null,
): AppliedActivityEvent {
  const before = activity ?? unseenActivity(event.activityId, receivedAt)
  const sagaId = sagaIdOf(event)
  if (sagaId && before.sagaId && sagaId !== before.sagaId) {
    throw new SagaRejection('ACTIVITY_SAGA_MISMATCH', `activity ${before.id} is part of another saga`)
  }
  const after = { ...before }
  after.sagaId ??= sagaId
  if (!isOutdated(before, event, attempt)) addReport(after, event, receivedAt, attempt)
  else if (after.sagaId === before.sagaId) return { activity: before, result: 'late' }
  const conflict = before.anomalies.includes('result_conflict') || hasOtherResult(before, event)
  const anomalies = deriveAnomalies(after, conflict)
  if (anomalies !== before.anomalies && anomalies.join() !== before.anomalies.join())
    after.anomalies = anomalies
  if (activity && !differs(activity, after)) return { activity, result: 'duplicate' }
  if (receivedAt > before.lastEventAt) after.lastEventAt = receivedAt
  return { activity: after, result: resultOf(before, after, claimOf(event)) }
}

/** Returns whether a later attempt has replaced the attempt of the event. */
function isOutdated(before: Activity, event: ActivityEvent, attempt: number | null): boolean {
  const { phase } = operations[event.operation]
  return phase !== undefined && attempt !== null && attempt < before[attemptsOf[phase]]
}

function addReport(next: Activity, event: ActivityEvent, receivedAt: Date, attempt: number | null): void {
  const { phase } = operations[event.operation]
  if (phase !== undefined && attempt !== null) raiseAttempt(next, phase, attempt)
  addFacts(next, event, receivedAt)
}

const claimOf = (event: ActivityEvent): ActivityStatus =>
  event.operation === 'ActivityRetried' ? event.status : operations[event.operation].claim

const attemptsOf = { Execute: 'executeAttempts', Compensate: 'compensateAttempts' } as const

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
  // A retry report also claims Executing, but only ActivityExecuteStarted reports when the activity began.
  Executing: null,
  Executed: 'endedAt',
  ExecuteAborted: 'abortedAt',
  Overtime: 'overtimeAt',
  Revoked: 'revokedAt',
  Compensating: 'compensatingAt',
  Compensated: 'compensatedAt',
  CompensateAborted: 'compensateAbortedAt',
}

/** Adds a claim with the time of its first report, or of the report that made it the status again. */
function addClaim(next: Activity, claim: ActivityStatus, receivedAt: Date): void {
  const status = strongest(next.status, claim)
  const time = factTimes[claim]
  if (time && (next[time] === null || status !== next.status)) next[time] = receivedAt
  next.status = status
  if (status === 'Compensated') {
    next.finalAbort = false
    next.givenUpAt = null
  }
}

function addFacts(next: Activity, event: ActivityEvent, receivedAt: Date): void {
  if (event.operation === 'ActivityRetried') {
    addRetry(next, event, receivedAt)
    return
  }
  addClaim(next, claimOf(event), receivedAt)
  switch (event.operation) {
    case 'ActivityExecuteStarted':
      addStart(next, event, receivedAt)
      return
    case 'ActivityEnded':
      addResult(next, event)
      return
    case 'ActivityExecuteAborted':
      // The errors of an overtime take precedence over those of an abort.
      if (!next.overtimeAt || next.status === 'ExecuteAborted') setExecuteErrors(next, event)
      return
    case 'ActivityExecuteOvertime':
      setExecuteErrors(next, event)
      next.overtimeNamedSaga ||= event.sagaId !== null
      return
    case 'ActivityCompensateAborted':
      setCompensateErrors(next, event)
      if (event.sagaId !== null) giveUp(next, receivedAt)
  }
}

function addStart(
  next: Activity,
  event: ActivityEvent & { operation: 'ActivityExecuteStarted' },
  receivedAt: Date,
): void {
  next.startedAt ??= receivedAt
  next.order ??= event.order
  if (next.timeOutSeconds === null) {
    next.timeOutSeconds = event.timeOutSeconds
    if (event.timeOutSeconds > 0) next.deadlineAt = deadlineOf(next.startedAt, event.timeOutSeconds)
  }
  if (next.parameterData === null) {
    next.parameterData = event.parameterData
    next.parameterSize = event.cut?.size ?? null
    next.parameterSha256 = event.cut?.sha256 ?? null
  }
  next.addTime ??= event.addTime
}

function addResult(next: Activity, event: ActivityEvent & { operation: 'ActivityEnded' }): void {
  if (next.resultData !== null) return
  next.resultData = event.resultData
  next.resultSize = event.cut?.size ?? null
  next.resultSha256 = event.cut?.sha256 ?? null
}

/**
 * Stores that the client gave up the compensation. The latest time counts, independent of the order of
 * events.
 */
function giveUp(next: Activity, receivedAt: Date): void {
  if (next.status === 'Compensated') return
  if (next.givenUpAt === null || next.givenUpAt < receivedAt) next.givenUpAt = receivedAt
  next.finalAbort = true
}

const timeOutSecondsMax = 365 * 24 * 3600

/** Returns the deadline, limited to a time that the database can store. */
const deadlineOf = (startedAt: Date, timeOutSeconds: number): Date =>
  new Date(startedAt.getTime() + Math.min(timeOutSeconds, timeOutSecondsMax) * 1000)

interface Errors {
  errors: string
  cut?: Cut
}

function setExecuteErrors(next: Activity, { errors, cut }: Errors): void {
  if (next.executeErrors === errors && sameBytes(next.executeErrorsSha256, cut?.sha256 ?? null)) return
  next.executeErrors = errors
  next.executeErrorsSize = cut?.size ?? null
  next.executeErrorsSha256 = cut?.sha256 ?? null
  if (next.compensateErrors === null) next.errorFingerprint = errorFingerprint(errors)
}

function setCompensateErrors(next: Activity, { errors, cut }: Errors): void {
  if (next.compensateErrors === errors && sameBytes(next.compensateErrorsSha256, cut?.sha256 ?? null)) return
  next.compensateErrors = errors
  next.compensateErrorsSize = cut?.size ?? null
  next.compensateErrorsSha256 = cut?.sha256 ?? null
  next.errorFingerprint = errorFingerprint(errors)
}

const sameBytes = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a === null || b === null ? a === b : Buffer.compare(a, b) === 0

/**
 * Adds a retry report. A higher attempt reopens its phase and then claims its status. The stored attempt only
 * claims its status. A lower attempt is ignored. Reports without number and status are also counted.
 */
function addRetry(next: Activity, event: ActivityRetried, receivedAt: Date): void {
  if (event.retries < next[attemptsOf[event.retryType]]) return
  if (event.retries === 0 && !event.statusNamed) next.retryReports += 1
  raiseAttempt(next, event.retryType, event.retries)
  addClaim(next, event.status, receivedAt)
}

/** Stores the attempt; a higher one reopens its phase. */
function raiseAttempt(next: Activity, phase: RetryType, attempt: number): void {
  if (attempt <= next[attemptsOf[phase]]) return
  next[attemptsOf[phase]] = attempt
  const [reopened, stronger] =
    phase === 'Execute' ? (['Executing', 'Executed'] as const) : (['Compensating', 'Compensated'] as const)
  if (rankOf(next.status) < rankOf(stronger)) next.status = reopened
}

function hasOtherResult(before: Activity, event: ActivityEvent): boolean {
  if (event.operation !== 'ActivityEnded' || before.resultData === null) return false
  const { resultData, cut } = event
  return !sameBytes(before.resultData, resultData) || !sameBytes(before.resultSha256, cut?.sha256 ?? null)
}

function differs(a: Activity, b: Activity): boolean {
  if (a.status !== b.status) return true
  for (const key in b) if (a[key as keyof Activity] !== b[key as keyof Activity]) return true
  return false
}

function resultOf(before: Activity, after: Activity, claim: ActivityStatus): EventResult {
  // When the compensation has begun, a contradiction about the execution is only a late event.
  if (after.anomalies.length > 0 && rankOf(before.status) <= rankOf('Executed')) {
    if (after.anomalies.some((anomaly) => !before.anomalies.includes(anomaly))) return 'conflict recorded'
  }
  if (after.sagaId === null) return 'parked'
  return rankOf(claim) < rankOf(after.status) ? 'late' : 'recorded'
}
