import type { Database } from '../../client.js'
import { readSweepPosition, writeSweepPosition } from './sweeps.js'

type Pooled = Pick<Database, 'pool'>

/** The name of the sweep that counts ended sagas for the figures. */
export const figuresSweep = 'figures'
const cursorKey = 'ended'

/** SQL for the id of the log up to which ended sagas are counted; null while no process counts. */
export const countedUpTo = `(SELECT (position -> '${cursorKey}' ->> 0)::bigint FROM saga_sweeps WHERE name = '${figuresSweep}')`

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
export async function readEndedCursor(database: Pooled): Promise<EndedCursor> {
  const [position, horizon, horizonXid] = (await readSweepPosition(database, figuresSweep))[cursorKey] ?? []
  const known = position !== undefined && horizon !== undefined && horizonXid !== undefined
  return known ? { position, horizon, horizonXid } : readLogEnd(database)
}

export const writeEndedCursor = (
  database: Pooled,
  { position, horizon, horizonXid }: EndedCursor,
): Promise<void> =>
  writeSweepPosition(database, figuresSweep, { [cursorKey]: [position, horizon, horizonXid] })

/** The current end of the log: only later events will be counted. */
async function readLogEnd({ pool }: Pooled): Promise<EndedCursor> {
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
  database: Pooled,
  cursor: EndedCursor,
): Promise<{ ended: EndedSaga[]; cursor: EndedCursor }> {
  const settled = await database.pool.query<{ settled: boolean }>(
    `SELECT pg_snapshot_xmin(s)::text::numeric >= $1::numeric OR pg_snapshot_xmax(s)::text::numeric < $1::numeric AS settled
     FROM pg_current_snapshot() AS s`,
    [cursor.horizonXid],
  )
  if (!settled.rows[0]?.settled) return { ended: [], cursor }
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
