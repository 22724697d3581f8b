import type { ActivityStatus } from './activity-status.js'

/**
 * An activity: the facts that its events reported, and the status and anomalies derived from them. Times of
 * facts are the times at which the server received the events; only `addTime` comes from the client.
 */
export interface Activity {
  id: string
  /** Null while the activity is parked: no event has named its saga yet. */
  sagaId: string | null
  order: number | null
  status: ActivityStatus
  timeOutSeconds: number | null
  /** The highest attempt of a retry report; the first execution is attempt 0. */
  executeAttempts: number
  compensateAttempts: number
  /** Number of retry reports without attempt number and status, which older clients send. */
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
  /** The client gave up the compensation; false again when the activity is compensated later. */
  finalAbort: boolean
  /** When the client last gave up the compensation; null unless `finalAbort`. */
  givenUpAt: Date | null
  /** Start plus `timeOutSeconds`; null without a time-out. */
  deadlineAt: Date | null
  /** The overtime report named the saga, so the saga's status depends on it. */
  overtimeNamedSaga: boolean
  executeErrors: string | null
  compensateErrors: string | null
  parameterData: Uint8Array | null
  resultData: Uint8Array | null
  /** Size in bytes and SHA-256 of the whole value when only its beginning is stored; otherwise null. */
  executeErrorsSize: number | null
  executeErrorsSha256: Uint8Array | null
  compensateErrorsSize: number | null
  compensateErrorsSha256: Uint8Array | null
  parameterSize: number | null
  parameterSha256: Uint8Array | null
  resultSize: number | null
  resultSha256: Uint8Array | null
  /**
   * Fingerprint of the errors of the compensation, otherwise of the execution. It is equal for the same
   * failure.
   */
  errorFingerprint: string | null
  anomalies: Anomaly[]
  /** Keys of the newest events of the activity: see `content-keys.ts`. */
  contentKeys: string
}

/** Contradictions among the facts of an activity, which are also label values of a metric. */
export const anomalies = [
  'executed_and_aborted',
  'executed_and_revoked',
  'revoked_and_compensated',
  'result_conflict',
] as const

export type Anomaly = (typeof anomalies)[number]

const noAnomalies: Anomaly[] = []

/** Returns an activity of which only the id is known. */
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
 * Returns the contradictions among an activity's facts, independent of the order of events. A retry explains
 * an earlier abort or revocation.
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
