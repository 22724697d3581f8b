import { inPoolTransaction, type Pooled, sqlStateOf, sqlStates } from '@switchyard/db'
import pg from 'pg'

/**
 * Creates the missing daily partitions of the saga event log, starting today (UTC). It may run in several
 * processes at once and during writes.
 *
 * @param days number of days, including today
 * @returns names of the new partitions
 * @throws when a transaction uses the log for longer than a second, because readers wait meanwhile
 */
export async function ensureSagaEventPartitions({ pool }: Pooled, days: number): Promise<string[]> {
  const { rows } = await inPoolTransaction(
    pool,
    (client) =>
      client.query<{ partition: string }>(
        'SELECT ensure_saga_event_partitions(current_date, $1) AS partition',
        [days],
      ),
    "BEGIN; SET LOCAL lock_timeout = '1s'",
  )
  return rows.map(({ partition }) => partition)
}

const defaultPartition = 'saga_events_default'
/**
 * Lists partitions of the event log whose day ended before an instant, oldest first, and finally the default
 * partition, which has events of days without a partition.
 */
export async function listOldLogPartitions({ pool }: Pooled, before: Date): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.relname::text AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'saga_events'::regclass AND c.relname ~ '^saga_events_[0-9]{8}$'
       AND (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' <= $1
     ORDER BY 1`,
    [before],
  )
  return [...rows.map(({ name }) => name), defaultPartition]
}

export const isDroppable = (partition: string): boolean => partition !== defaultPartition

const living = `(EXISTS (SELECT FROM sagas s WHERE s.tenant = e.tenant AND s.id = e.saga_id)
  OR EXISTS (SELECT FROM saga_activities a WHERE a.tenant = e.tenant AND a.id = e.activity_id))`

export interface LogScan {
  /** Events of sagas or activities that still exist. */
  living: number
  deleted: number
  /** Id of the last event that was read; null when there are no more. */
  next: string | null
}

/** The events of the page, each with whether its saga or activity still exists. */
const judged = `judged AS MATERIALIZED (SELECT e.*, ${living} AS living FROM page e)`

/** The deletion of callers' ids, together with their events. */
const idsGone = `ids_gone AS (
    DELETE FROM saga_event_ids i USING judged j
    WHERE NOT j.living AND i.tenant = j.tenant AND i.event_id = j.event_id
  )`

/**
 * Reads the next events of a partition that were received before an instant, and counts those whose saga or
 * activity still exists. The other events are deleted later with their partition or by {@link thinLog}; their
 * callers' ids are deleted now.
 */
export const scanLog = (database: Pooled, scan: LogRange): Promise<LogScan> =>
  query(
    database,
    scan,
    (page) => `WITH page AS (${page}), ${judged}, ${idsGone}
      SELECT count(*) FILTER (WHERE e.living)::int AS living, 0 AS deleted, max(e.id)::text AS last,
        count(*)::int AS seen FROM judged e`,
  )

/** Reads the next events of a partition, and deletes those whose saga and activity no longer exist. */
export const thinLog = (database: Pooled, scan: LogRange): Promise<LogScan> =>
  query(
    database,
    scan,
    (page, table) => `WITH page AS (${page}), ${judged}, ${idsGone},
      gone AS (
        DELETE FROM ${table} t USING judged j
        WHERE t.id = j.id AND t.received_at = j.received_at AND NOT j.living RETURNING t.id
      )
      SELECT count(*) FILTER (WHERE e.living)::int AS living, (SELECT count(*) FROM gone)::int AS deleted,
        max(e.id)::text AS last, count(*)::int AS seen FROM judged e`,
  )

export interface LogRange {
  partition: string
  /** Id after which to continue. */
  after: string
  receivedBefore: Date
  rowsMax: number
}

async function query(
  { pool }: Pooled,
  { partition, after, receivedBefore, rowsMax }: LogRange,
  sql: (page: string, table: string) => string,
): Promise<LogScan> {
  const table = pg.escapeIdentifier(partition)
  const page = `SELECT id, received_at, tenant, saga_id, activity_id, event_id FROM ${table}
    WHERE id > $1 AND received_at < $2 ORDER BY id LIMIT $3`
  const { rows } = await pool.query<Omit<LogScan, 'next'> & { last: string | null; seen: number }>(
    sql(page, table),
    [after, receivedBefore, rowsMax],
  )
  const { living = 0, deleted = 0, last = null, seen = 0 } = rows[0] ?? {}
  return { living, deleted, next: seen < rowsMax ? null : last }
}

/**
 * Drops the partition of a day. Recording would wait for it, so the attempt is given up when it does not get
 * its lock at once.
 *
 * @returns false when another transaction is using the log; the caller tries again later
 */
export async function dropLogPartition({ pool }: Pooled, partition: string): Promise<boolean> {
  try {
    await inPoolTransaction(
      pool,
      (client) => client.query('SELECT drop_saga_event_partition($1)', [partition]),
      "BEGIN; SET LOCAL lock_timeout = '300ms'",
    )
    return true
  } catch (error) {
    if (sqlStateOf(error) === sqlStates.lockNotAvailable) return false
    throw error
  }
}
