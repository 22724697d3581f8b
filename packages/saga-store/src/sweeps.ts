import type { Database } from '@switchyard/db'

type SweepPool = Pick<Database, 'pool'>

/** The position at which a sweep continues: the keys of the last row that it has read. */
export type SweepPosition = Record<string, readonly string[]>

/** The position of each source of a sweep; empty when the sweep has never run. */
export async function readSweepPosition({ pool }: SweepPool, name: string): Promise<SweepPosition> {
  const { rows } = await pool.query<{ position: SweepPosition }>(
    'SELECT position FROM saga_sweeps WHERE name = $1',
    [name],
  )
  return rows[0]?.position ?? {}
}

export async function writeSweepPosition(
  { pool }: SweepPool,
  name: string,
  position: SweepPosition,
): Promise<void> {
  await pool.query(
    `INSERT INTO saga_sweeps (name, position) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET position = EXCLUDED.position, updated_at = CURRENT_TIMESTAMP`,
    [name, JSON.stringify(position)],
  )
}

/**
 * Takes or extends the lease of a sweep, which only one process may run at a time. Times are the database's, because
 * the clocks of the processes may differ.
 *
 * @param owner a name that only this process has
 * @returns false while another process holds it
 */
export async function holdSweep(
  { pool }: SweepPool,
  name: string,
  owner: string,
  holdMs: number,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO saga_sweeps (name, owner, owned_until)
     VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
     ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, owned_until = EXCLUDED.owned_until
       WHERE saga_sweeps.owner IS NULL OR saga_sweeps.owner = EXCLUDED.owner
         OR saga_sweeps.owned_until < clock_timestamp()`,
    [name, owner, holdMs],
  )
  return rowCount === 1
}

/** Ends the lease, so that another process can take it at once. */
export async function releaseSweep({ pool }: SweepPool, name: string, owner: string): Promise<void> {
  await pool.query('UPDATE saga_sweeps SET owner = NULL, owned_until = NULL WHERE name = $1 AND owner = $2', [
    name,
    owner,
  ])
}

/** The sweep that counts ended sagas for the metrics, by its stored name. */
export const metricsSweep = 'figures'
const cursorKey = 'ended'

/** SQL for the id of the log up to which ended sagas are counted; null while no process counts. */
export const countedUpTo = `(SELECT (position -> '${cursorKey}' ->> 0)::bigint FROM saga_sweeps WHERE name = '${metricsSweep}')`

/** A saga whose end its client has reported. */
export interface EndedSaga {
  serviceName: string | null
  status: string
  outcome: string | null
  /** Null when its start was not reported. */
  durationSeconds: number | null
}

/** How far the log has been read for sagas that ended; bigints as text. */
export interface EndedCursor {
  position: string
  /** The position up to which the log can be read once every transaction before `horizonXid` is over. */
  horizon: string
  horizonXid: string
}

const lastId = `COALESCE(pg_sequence_last_value('saga_events_id_seq'), 0)::text AS horizon,
  pg_snapshot_xmax(pg_current_snapshot())::text AS "horizonXid"`

/** The position at which counting continues; the end of the log when no process has counted yet. */
export async function readEndedCursor(database: SweepPool): Promise<EndedCursor> {
  const [position, horizon, horizonXid] = (await readSweepPosition(database, metricsSweep))[cursorKey] ?? []
  const known = position !== undefined && horizon !== undefined && horizonXid !== undefined
  return known ? { position, horizon, horizonXid } : readLogEnd(database)
}

export const writeEndedCursor = (
  database: SweepPool,
  { position, horizon, horizonXid }: EndedCursor,
): Promise<void> =>
  writeSweepPosition(database, metricsSweep, { [cursorKey]: [position, horizon, horizonXid] })

/** The current end of the log: only later events will be counted. */
async function readLogEnd({ pool }: SweepPool): Promise<EndedCursor> {
  const { rows } = await pool.query<Omit<EndedCursor, 'position'>>(`SELECT ${lastId}`)
  const { horizon = '0', horizonXid = '0' } = rows[0] ?? {}
  return { position: horizon, horizon, horizonXid }
}

/**
 * The sagas that ended between the cursor's position and its horizon, each once, at its first SagaEnded. Empty,
 * with the cursor unchanged, while an event of that part of the log may still become visible. A horizon whose transaction this
 * server has not reached yet was restored from the backup of another server, and so were all events up to it.
 */
export async function readNewlyEnded(
  database: SweepPool,
  cursor: EndedCursor,
): Promise<{ ended: EndedSaga[]; cursor: EndedCursor }> {
  const visible = await database.pool.query<{ visible: boolean }>(
    `SELECT pg_snapshot_xmin(s)::text::numeric >= $1::numeric OR pg_snapshot_xmax(s)::text::numeric < $1::numeric AS visible
     FROM pg_current_snapshot() AS s`,
    [cursor.horizonXid],
  )
  if (!visible.rows[0]?.visible) return { ended: [], cursor }
  const { rows: ended } = await database.pool.query<EndedSaga>(
    `SELECT s.service_name AS "serviceName", s.status, s.outcome,
       EXTRACT(epoch FROM s.ended_at - s.started_at)::double precision AS "durationSeconds"
     FROM (SELECT DISTINCT tenant, saga_id, received_at FROM saga_events
       WHERE id > $1 AND id <= $2 AND operation = 'SagaEnded') e
     JOIN sagas s ON s.tenant = e.tenant AND s.id = e.saga_id AND s.ended_at = e.received_at`,
    [cursor.position, cursor.horizon],
  )
  const end = await readLogEnd(database)
  return { ended, cursor: { ...end, position: cursor.horizon } }
}
