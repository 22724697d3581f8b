import type { Activity } from '@switchyard/domain/saga'
import { activityTable } from '../tables/saga-activities.js'
import { type Readable, readRows } from './read-query.js'

/** A payload without all of its bytes. */
export interface PayloadHead {
  /** Bytes of the payload as it was reported. */
  size: number
  /** Of the payload as it was reported, in hexadecimal. */
  sha256: string
  /** Bytes of it that are kept: fewer than `size` when it was too large. */
  storedSize: number
  /** Its first bytes. */
  head: Buffer
}

/** Text of errors as far as it is kept. */
export interface ErrorText {
  text: string
  /** Bytes of the text as it was reported. */
  size: number
}

const shown = [
  'id',
  'sagaId',
  'order',
  'status',
  'timeOutSeconds',
  'executeAttempts',
  'compensateAttempts',
  'retryReports',
  'addTime',
  'firstSeenAt',
  'lastEventAt',
  'startedAt',
  'endedAt',
  'abortedAt',
  'overtimeAt',
  'revokedAt',
  'compensatingAt',
  'compensatedAt',
  'compensateAbortedAt',
  'finalAbort',
  'anomalies',
  'deadlineAt',
] as const satisfies (keyof Activity)[]

export interface ActivityView extends Pick<Activity, (typeof shown)[number]> {
  /** Null when none were reported. */
  executeErrors: ErrorText | null
  compensateErrors: ErrorText | null
  /** Null when none was reported. */
  parameter: PayloadHead | null
  result: PayloadHead | null
}

const activityColumns = activityTable.listOf('a', [...shown, 'executeErrors', 'compensateErrors'])

/** Size and digest of the whole are stored only where the whole is not. */
const payloadHead = (name: string) => `octet_length(a.${name}_data) AS "${name}StoredSize",
  COALESCE(a.${name}_size, octet_length(a.${name}_data)) AS "${name}Size",
  encode(COALESCE(a.${name}_sha256, sha256(a.${name}_data)), 'hex') AS "${name}Sha256",
  substring(a.${name}_data FROM 1 FOR $3) AS "${name}Head"`

const activitiesOfSaga = {
  name: 'saga-read-activities',
  text: `SELECT ${activityColumns},
      COALESCE(a.execute_errors_size, octet_length(a.execute_errors)) AS "executeErrorsSize",
      COALESCE(a.compensate_errors_size, octet_length(a.compensate_errors)) AS "compensateErrorsSize",
      ${payloadHead('parameter')}, ${payloadHead('result')}
    FROM saga_activities a WHERE a.tenant = $1 AND a.saga_id = $2
    ORDER BY a."order" NULLS LAST, a.first_seen_at, a.id`,
}

type Head<Key extends string> = Record<`${Key}Size` | `${Key}StoredSize`, number | null> &
  Record<`${Key}Sha256`, string> &
  Record<`${Key}Head`, Buffer>

type ActivityRow = Omit<ActivityView, 'parameter' | 'result' | 'executeErrors' | 'compensateErrors'> &
  Head<'parameter'> &
  Head<'result'> &
  Record<'executeErrors' | 'compensateErrors', string | null> &
  Record<'executeErrorsSize' | 'compensateErrorsSize', number | null>

/**
 * The activities of a saga in their order; those without one stand last, in the order in which they were seen.
 *
 * @param headBytesMax bytes of each payload to read
 */
export async function listActivityViews(
  database: Readable,
  { tenant, sagaId }: { tenant: string; sagaId: string },
  headBytesMax: number,
): Promise<ActivityView[]> {
  const values = [tenant, sagaId, headBytesMax]
  const rows = await readRows<ActivityRow>(database, { ...activitiesOfSaga, values })
  return rows.map(toActivityView)
}

function toActivityView(row: ActivityRow): ActivityView {
  const { parameterSize, parameterStoredSize, parameterSha256, parameterHead, ...withoutParameter } = row
  const { resultSize, resultStoredSize, resultSha256, resultHead, ...withoutPayloads } = withoutParameter
  const { executeErrorsSize, compensateErrorsSize, ...activity } = withoutPayloads
  return {
    ...activity,
    executeErrors: toErrorText(activity.executeErrors, executeErrorsSize),
    compensateErrors: toErrorText(activity.compensateErrors, compensateErrorsSize),
    parameter: toHead(parameterSize, parameterStoredSize, parameterSha256, parameterHead),
    result: toHead(resultSize, resultStoredSize, resultSha256, resultHead),
  }
}

const toErrorText = (text: string | null, size: number | null): ErrorText | null =>
  text === null || size === null ? null : { text, size }

const toHead = (
  size: number | null,
  storedSize: number | null,
  sha256: string,
  head: Buffer,
): PayloadHead | null => (size === null || storedSize === null ? null : { size, sha256, storedSize, head })
