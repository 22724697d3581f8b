import type { Activity } from '@switchyard/domain/saga'
import { activityTable } from '../tables.js'
import { type Readable, readRows } from './read-query.js'

/** A row of the log. */
export interface SagaEventView {
  /** Position in the log, over all sagas and tenants. */
  seq: number
  operation: string
  result: string
  activityId: string | null
  eventId: string | null
  receivedAt: Date
  eventTime: Date | null
  eventSeq: number | null
  attempt: number | null
  traceParent: string | null
  parentSagaId: string | null
  /**
   * Size of the payload or errors when the stored request holds only their head; null when it holds them
   * whole.
   */
  payloadSize: number | null
  /** Bytes of the request. */
  requestSize: number
  /** The request as it came over the wire; null when it is too large to be shown. */
  request: Buffer | null
}

/** Larger requests are not read, because a page of them would be too large. */
const shownBytesMax = 512 * 1024

/**
 * Rows of the log of saga $2 of tenant $1, at most $4 after position $3. An event that names an activity
 * whose saga is not known yet has no saga in the log; it belongs to the saga that a later event gives its
 * activity.
 */
const eventRowsOfSaga = `
    (SELECT named.* FROM saga_events named
      WHERE named.tenant = $1 AND named.saga_id = $2 AND named.id > $3 ORDER BY named.id LIMIT $4)
    UNION ALL
    (SELECT parked.* FROM saga_activities a
      JOIN saga_events parked
        ON parked.tenant = a.tenant AND parked.activity_id = a.id AND parked.saga_id IS NULL
      WHERE a.tenant = $1 AND a.saga_id = $2 AND parked.id > $3 ORDER BY parked.id LIMIT $4)`

const eventsOfSaga = {
  name: 'saga-read-events',
  // A position is a bigint. At a million events a second it stays below 2^53 for 285 years.
  text: `SELECT e.id::double precision AS seq, e.operation, e.result, e.activity_id AS "activityId",
      e.event_id AS "eventId", e.received_at AS "receivedAt", e.event_time AS "eventTime",
      e.event_seq::double precision AS "eventSeq", e.attempt, e.trace_parent AS "traceParent",
      e.parent_saga_id AS "parentSagaId",
      e.payload_size AS "payloadSize",
      octet_length(e.request) AS "requestSize",
      CASE WHEN octet_length(e.request) <= ${shownBytesMax} THEN e.request END AS request
    FROM (${eventRowsOfSaga}) e ORDER BY e.id LIMIT $4`,
}

/** The log of a saga in its order, after a position. */
export const listSagaEvents = (
  database: Readable,
  { tenant, sagaId }: { tenant: string; sagaId: string },
  rows: { after: number; take: number },
): Promise<SagaEventView[]> =>
  readRows<SagaEventView>(database, { ...eventsOfSaga, values: [tenant, sagaId, rows.after, rows.take] })

const lastResolution = {
  name: 'saga-read-resolution',
  text: `SELECT e.request FROM saga_events e
    WHERE e.tenant = $1 AND e.saga_id = $2 AND e.operation = 'OperatorResolved'
      AND e.received_at <= $3 ORDER BY e.id DESC LIMIT 1`,
}

/**
 * The note of the operator who resolved a saga at this time; null when the log does not hold that event any
 * more. Later resolutions have been undone.
 */
export async function findResolutionNote(
  database: Readable,
  { tenant, sagaId }: { tenant: string; sagaId: string },
  resolvedAt: Date,
): Promise<string | null> {
  const [event] = await readRows<{ request: Buffer }>(database, {
    ...lastResolution,
    values: [tenant, sagaId, resolvedAt],
  })
  const note: unknown = event && JSON.parse(event.request.toString()).note
  return typeof note === 'string' ? note : null
}

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

/** Size and digest of the whole are stored only where the whole is not. */
const payloadHead = (name: string) => `octet_length(a.${name}_data) AS "${name}StoredSize",
  COALESCE(a.${name}_size, octet_length(a.${name}_data)) AS "${name}Size",
  encode(COALESCE(a.${name}_sha256, sha256(a.${name}_data)), 'hex') AS "${name}Sha256",
  substring(a.${name}_data FROM 1 FOR $3) AS "${name}Head"`

/** Above every order, because an activity without one stands last. */
const orderMissing = 2 ** 31

const inOrder = 'a."order" NULLS LAST, a.first_seen_at, a.id'

// The page is chosen first, so that payloads of other activities are not read.
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

/** Where an activity stands among those of its saga. */
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
 * The activities of a saga in their order; those without one stand last, in the order in which they were
 * seen.
 *
 * @param headBytesMax bytes of each payload to read
 * @param rows `after`: null: from the first one on; `take`: null: all of them
 */
export async function listActivityViews(
  database: Readable,
  { tenant, sagaId }: { tenant: string; sagaId: string },
  headBytesMax: number,
  { after, take }: { after: ActivityPosition | null; take: number | null },
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
