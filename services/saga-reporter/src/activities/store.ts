import type { Pooled } from '@switchyard/db'
import { SqlParameters } from '@switchyard/db/sql'
import type { Activity, SagaKey } from '@switchyard/domain/saga'
import { activityTable } from '@switchyard/saga-store'
import { readRows } from '../limited-database.js'
import type { SagaPosition } from '../shapes/search.js'

/** A payload, possibly without all its bytes. */
export interface PayloadHead {
  /** Bytes of the payload as reported. */
  size: number
  /** SHA-256 of the payload as reported, in hexadecimal. */
  sha256: string
  /** Number of stored bytes, less than `size` when the payload was too large. */
  storedSize: number
  /** The first bytes. */
  head: Buffer
}

/** The stored part of an error text. */
export interface ErrorText {
  text: string
  /** Bytes of the text as reported. */
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
  'errorFingerprint',
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

/** Size and digest are stored only where the payload is not stored completely. */
const payloadHead = (name: string) => `octet_length(a.${name}_data) AS "${name}StoredSize",
  COALESCE(a.${name}_size, octet_length(a.${name}_data)) AS "${name}Size",
  encode(COALESCE(a.${name}_sha256, sha256(a.${name}_data)), 'hex') AS "${name}Sha256",
  substring(a.${name}_data FROM 1 FOR $3) AS "${name}Head"`

/** An order above every other one, because activities without an order come last. */
const orderMissing = 2 ** 31

const inOrder = 'a."order" NULLS LAST, a.first_seen_at, a.id'

// The page is selected first, so that the payloads of other activities are not read.
const activitiesOfSaga = {
  name: 'saga-read-activities',
  text: `SELECT ${activityColumns},
      COALESCE(a.execute_errors_size, octet_length(a.execute_errors)) AS "executeErrorsSize",
      COALESCE(a.compensate_errors_size, octet_length(a.compensate_errors)) AS "compensateErrorsSize",
      ${payloadHead('parameter')}, ${payloadHead('result')}
    FROM (SELECT a.id FROM saga_activities a WHERE a.tenant = $1 AND a.saga_id = $2
        AND ($4::bigint IS NULL OR (COALESCE(a."order"::bigint, ${orderMissing}), a.first_seen_at, a.id) > ($4, $5::timestamptz, $6::text))
      ORDER BY ${inOrder} LIMIT $7) page
    JOIN saga_activities a ON a.tenant = $1 AND a.id = page.id
    ORDER BY ${inOrder}`,
}

/** The position of an activity among those of its saga. */
export type ActivityPosition = Pick<Activity, 'order' | 'firstSeenAt' | 'id'>

type Head<Key extends string> = Record<`${Key}Size` | `${Key}StoredSize`, number | null> &
  Record<`${Key}Sha256`, string> &
  Record<`${Key}Head`, Buffer>

type ActivityRow = Omit<ActivityView, 'parameter' | 'result' | 'executeErrors' | 'compensateErrors'> &
  Head<'parameter'> &
  Head<'result'> &
  Record<'executeErrors' | 'compensateErrors', string | null> &
  Record<'executeErrorsSize' | 'compensateErrorsSize', number | null>

/**
 * Lists the activities of a saga in their order. Those without one come last, in the order in which they were
 * first seen.
 *
 * @param headBytesMax bytes of each payload to read
 * @param rows `after`: null: from the first one
 */
export async function listActivityViews(
  database: Pooled,
  { tenant, sagaId }: SagaKey,
  headBytesMax: number,
  { after, take }: { after: ActivityPosition | null; take: number },
): Promise<ActivityView[]> {
  const position = after ? [after.order ?? orderMissing, after.firstSeenAt, after.id] : [null, null, null]
  const values = [tenant, sagaId, headBytesMax, ...position, take]
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

export interface StoredPayload {
  /** Bytes of the payload as reported. */
  size: number
  /** SHA-256 of the payload as reported, in hexadecimal. */
  sha256: string
  /** The stored bytes: the whole payload, or its head. */
  bytes: Buffer
}

const payloadOf = (kind: 'parameter' | 'result') => ({
  name: `saga-read-${kind}`,
  text: `SELECT a.${kind}_data AS bytes, COALESCE(a.${kind}_size, octet_length(a.${kind}_data)) AS size,
      encode(COALESCE(a.${kind}_sha256, sha256(a.${kind}_data)), 'hex') AS sha256
    FROM saga_activities a WHERE a.tenant = $1 AND a.saga_id = $2 AND a.id = $3 AND a.${kind}_data IS NOT NULL`,
})

const payloads = { parameter: payloadOf('parameter'), result: payloadOf('result') }

export type PayloadKind = keyof typeof payloads

/** Returns the stored bytes of a payload of an activity; null when there is no such activity or payload. */
export async function findActivityPayload(
  database: Pooled,
  { tenant, sagaId, activityId }: SagaKey & { activityId: string },
  kind: PayloadKind,
): Promise<StoredPayload | null> {
  const values = [tenant, sagaId, activityId]
  const [payload] = await readRows<StoredPayload>(database, { ...payloads[kind], values })
  return payload ?? null
}

const shownOfParked = [
  'id',
  'status',
  'firstSeenAt',
  'lastEventAt',
  'executeErrors',
  'compensateErrors',
] as const

export type ParkedActivity = Pick<Activity, (typeof shownOfParked)[number]>

/** Lists activities whose saga no event has named, newest first; at most `take`, after a position. */
export function listParkedActivities(
  database: Pooled,
  tenant: string,
  { after, take }: { after: SagaPosition | null; take: number },
): Promise<ParkedActivity[]> {
  const parameters = new SqlParameters()
  const where = [`a.tenant = ${parameters.add(tenant)}`, 'a.saga_id IS NULL']
  if (after) {
    const at = parameters.add(after.at)
    where.push(`a.first_seen_at <= ${at}`, `(a.first_seen_at < ${at} OR a.id < ${parameters.add(after.id)})`)
  }
  const text = `SELECT ${activityTable.listOf('a', shownOfParked)} FROM saga_activities a WHERE ${where.join(' AND ')}
    ORDER BY a.first_seen_at DESC, a.id DESC LIMIT ${parameters.add(take)}`
  return readRows<ParkedActivity>(database, { text, values: parameters.values })
}
