import type { ActivityStatus } from './activity-status.js'

/**
 * An activity: the facts its events told, and the status and anomalies that follow from them. Times of facts are the
 * server's receipt times; only `addTime` is the client's.
 */
export interface Activity {
  id: string
  /** Null while parked: no event has named its saga yet. */
  sagaId: string | null
  order: number | null
  status: ActivityStatus
  timeOutSeconds: number | null
  /** The highest attempt a retry report named; the first execution is 0. */
  executeAttempts: number
  compensateAttempts: number
  /** Retry reports without attempt number and status; older clients send only these. */
  retryReports: number
  addTime: Date | null
  firstSeenAt: Date
  lastEventAt: Date
  startedAt: Date | null
  endedAt: Date | null
  abortedAt: Date | null
  overtimeAt: Date | null
  revokedAt: Date | null
  compensatingAt: Date | null
  compensatedAt: Date | null
  compensateAbortedAt: Date | null
  /** The client gave a compensation up; cleared when the activity is compensated after all. */
  finalAbort: boolean
  /** When it did so last; null unless `finalAbort`. */
  givenUpAt: Date | null
  /** When its time is out: its start and `timeOutSeconds`. Null without a time out. */
  deadlineAt: Date | null
  /** The overtime report named the saga, so it counts for the saga's status too. */
  overtimeNamedSaga: boolean
  executeErrors: string | null
  compensateErrors: string | null
  parameterData: Uint8Array | null
  resultData: Uint8Array | null
  /** Bytes and SHA-256 of the whole, where only its head is kept; else null. */
  executeErrorsSize: number | null
  executeErrorsSha256: Uint8Array | null
  compensateErrorsSize: number | null
  compensateErrorsSha256: Uint8Array | null
  parameterSize: number | null
  parameterSha256: Uint8Array | null
  resultSize: number | null
  resultSha256: Uint8Array | null
  /** Of the compensation's errors, or else of the execution's: the same for the same failure. */
  errorFingerprint: string | null
  anomalies: Anomaly[]
  /** The newest contents it has taken: see `content-keys.ts`. */
  contentKeys: string
}

/** Facts of one activity that contradict each other; label values of the anomaly metric. */
export const anomalies = [
  'executed_and_aborted',
  'executed_and_revoked',
  'revoked_and_compensated',
  'result_conflict',
] as const

export type Anomaly = (typeof anomalies)[number]

const noAnomalies: Anomaly[] = []

/** Nothing is known but the id. */
export const unseenActivity = (id: string, receivedAt: Date): Activity => ({
  id,
  sagaId: null,
  order: null,
  status: 'NotStarted',
  timeOutSeconds: null,
  executeAttempts: 0,
  compensateAttempts: 0,
  retryReports: 0,
  addTime: null,
  firstSeenAt: receivedAt,
  lastEventAt: receivedAt,
  startedAt: null,
  endedAt: null,
  abortedAt: null,
  overtimeAt: null,
  revokedAt: null,
  compensatingAt: null,
  compensatedAt: null,
  compensateAbortedAt: null,
  finalAbort: false,
  givenUpAt: null,
  deadlineAt: null,
  overtimeNamedSaga: false,
  executeErrors: null,
  compensateErrors: null,
  parameterData: null,
  resultData: null,
  executeErrorsSize: null,
  executeErrorsSha256: null,
  compensateErrorsSize: null,
  compensateErrorsSha256: null,
  parameterSize: null,
  parameterSha256: null,
  resultSize: null,
  resultSha256: null,
  errorFingerprint: null,
  anomalies: noAnomalies,
  contentKeys: '',
})

/**
 * The contradictions among an activity's facts, whatever order they came in. A known retry explains an earlier abort
 * or revocation.
 */
export function deriveAnomalies(activity: Activity, resultConflict: boolean): Anomaly[] {
  const { endedAt, abortedAt, overtimeAt, revokedAt } = activity
  if (!resultConflict && !(endedAt && abortedAt) && !revokedAt) return noAnomalies
  const retried = activity.executeAttempts > 0 || activity.retryReports > 0
  const compensation = activity.compensatingAt ?? activity.compensateAbortedAt ?? activity.compensatedAt
  const effects = endedAt ?? abortedAt ?? overtimeAt
  const found: Record<Anomaly, boolean> = {
    executed_and_aborted: Boolean(endedAt && abortedAt) && !retried,
    executed_and_revoked: Boolean(endedAt && revokedAt) && !retried,
    revoked_and_compensated: Boolean(revokedAt && compensation) && !effects && !retried,
    result_conflict: resultConflict,
  }
  return anomalies.filter((anomaly) => found[anomaly])
}
