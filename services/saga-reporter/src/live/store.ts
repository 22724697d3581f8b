import type { Pooled } from '@switchyard/db'

/** An entry of the log. The properties after `eventTime` come from the current rows, not from the entry. */
export interface LogEntry {
  /** Position in the log, over all sagas and tenants. */
  sequence: number
  tenant: string
  /** Null while no event has named the saga of the activity. */
  sagaId: string | null
  activityId: string | null
  operation: string
  result: string
  receivedAt: Date
  eventTime: Date | null
  serviceName: string | null
  status: string | null
  outcome: string | null
  activityStatus: string | null
}

/** Entries of the log in their order, and the position up to which no entry is missing. */
export interface LogPage {
  entries: LogEntry[]
  readTo: number
}

// A position is a bigint. At a million events a second it stays below 2^53 for 285 years.
const withDerivedRows = (entries: string) => `SELECT e.id::double precision AS sequence, e.tenant,
    COALESCE(e.saga_id, a.saga_id) AS "sagaId", e.activity_id AS "activityId", e.operation, e.result, e.received_at AS "receivedAt",
    e.event_time AS "eventTime", s.service_name AS "serviceName", s.status, s.outcome, a.status AS "activityStatus"
  FROM (${entries}) e
  LEFT JOIN saga_activities a ON a.tenant = e.tenant AND a.id = e.activity_id
  LEFT JOIN sagas s ON s.tenant = e.tenant AND s.id = COALESCE(e.saga_id, a.saga_id)
  ORDER BY e.id`

const columns = 'id, tenant, saga_id, activity_id, operation, result, received_at, event_time'
const columnsOf = (table: string) => columns.replace(/\w+/g, `${table}.$&`)

const tail = {
  name: 'saga-log-tail',
  text: withDerivedRows(
    `SELECT ${columns} FROM saga_events WHERE id > $1 AND received_at >= $2::timestamptz ORDER BY id LIMIT $3`,
  ),
}

/**
 * Lists visible entries of all tenants after a position. Further entries between them may become visible
 * later.
 *
 * @param receivedSince earlier days are not read, which takes less time; null: all days are read
 */
export async function readLogTail(
  { pool }: Pooled,
  { after, receivedSince, take }: { after: number; receivedSince: Date | null; take: number },
): Promise<LogEntry[]> {
  const { rows } = await pool.query<LogEntry>({
    ...tail,
    values: [after, receivedSince ?? '-infinity', take],
  })
  return rows
}

/**
 * Positions that one page covers, so that a page is fast even when few of its entries belong to the tenant.
 */
const pagePositions = 20_000
const pageEntries = 500

const ofTenant = {
  name: 'saga-log-of-tenant',
  text: withDerivedRows(
    `SELECT ${columns} FROM saga_events WHERE id > $1 AND id <= $2 AND tenant = $3 ORDER BY id LIMIT ${pageEntries}`,
  ),
}

const ofSaga = {
  name: 'saga-log-of-saga',
  text: withDerivedRows(
    `(SELECT ${columns} FROM saga_events WHERE id > $1 AND id <= $2 AND tenant = $3 AND saga_id = $4
        ORDER BY id LIMIT ${pageEntries})
      UNION ALL
      (SELECT ${columnsOf('parked')} FROM saga_activities known
        JOIN saga_events parked
          ON parked.tenant = known.tenant AND parked.activity_id = known.id AND parked.saga_id IS NULL
        WHERE known.tenant = $3 AND known.saga_id = $4 AND parked.id > $1 AND parked.id <= $2
        ORDER BY parked.id LIMIT ${pageEntries})
      ORDER BY id LIMIT ${pageEntries}`,
  ),
}

/**
 * Reads a page of the entries of a tenant, or of one saga, after a position.
 *
 * @param upTo a position up to which no further entry becomes visible
 */
export async function readLogPage(
  { pool }: Pooled,
  { tenant, sagaId }: { tenant: string; sagaId?: string | undefined },
  { after, upTo }: { after: number; upTo: number },
): Promise<LogPage> {
  const end = sagaId === undefined ? Math.min(upTo, after + pagePositions) : upTo
  const query =
    sagaId === undefined
      ? { ...ofTenant, values: [after, end, tenant] }
      : { ...ofSaga, values: [after, end, tenant, sagaId] }
  const { rows: entries } = await pool.query<LogEntry>(query)
  const last = entries.at(-1)
  return { entries, readTo: last && entries.length === pageEntries ? last.sequence : end }
}
