import type { Pooled } from '@switchyard/db'
import type { SagaKey } from '@switchyard/domain/saga'
import { readRows } from '../limited-database.js'

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
   * Size of the payload or errors when the stored request has only their head; null when it has them
   * completely.
   */
  payloadSize: number | null
  /** Bytes of the request. */
  requestSize: number
  /** The request as received; null when it is too large to be shown. */
  request: Buffer | null
}

/** Largest request that is read, because a page of larger ones would be too large. */
const shownBytesMax = 512 * 1024

/**
 * A query for log rows of saga $2 of tenant $1, at most $4 after position $3. An event of an activity without
 * a known saga has no saga in the log; it belongs to the saga that a later event names for its activity.
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

/** Lists the log of a saga in order, after a position. */
export const listSagaEvents = (
  database: Pooled,
  { tenant, sagaId }: SagaKey,
  rows: { after: number; take: number },
): Promise<SagaEventView[]> =>
  readRows<SagaEventView>(database, { ...eventsOfSaga, values: [tenant, sagaId, rows.after, rows.take] })
