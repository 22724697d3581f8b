import type { Pooled } from '@switchyard/db'
import { hasNoOwner, leaseEnd, ownerReleased } from '@switchyard/db/sql'
import { findLogHorizon, readLastPosition } from '@switchyard/saga-store'

/** The position at which a sweep continues: the keys of the last row that it has read. */
export type SweepPosition = Record<string, readonly string[]>

/** The position of each source of a sweep; empty when the sweep has never run. */
export async function readSweepPosition({ pool }: Pooled, name: string): Promise<SweepPosition> {
  const { rows } = await pool.query<{ position: SweepPosition }>(
    'SELECT position FROM saga_sweeps WHERE name = $1',
    [name],
  )
  return rows[0]?.position ?? {}
}

export async function writeSweepPosition(
  { pool }: Pooled,
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
 * Takes or extends the lease of a sweep, which only one process may run at a time.
 *
 * @param owner a name that only this process has
 * @returns false while another process holds it
 */
export async function leaseSweep(
  { pool }: Pooled,
  name: string,
  owner: string,
  leaseMs: number,
): Promise<boolean> {
  // Not by `leaseRows`: the row is known by its name, and made when it is not there.
  const { rowCount } = await pool.query(
    `INSERT INTO saga_sweeps (name, owner, owned_until)
     VALUES ($1, $2, ${leaseEnd('$3')})
     ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, owned_until = EXCLUDED.owned_until
       WHERE saga_sweeps.owner = EXCLUDED.owner OR ${hasNoOwner('saga_sweeps')}`,
    [name, owner, leaseMs],
  )
  return rowCount === 1
}

/** Ends the lease, so that another process can take it at once. */
export async function releaseSweep({ pool }: Pooled, name: string, owner: string): Promise<void> {
  await pool.query(`UPDATE saga_sweeps SET ${ownerReleased} WHERE name = $1 AND owner = $2`, [name, owner])
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

/** The position of the log at which counting continues; its end when no process has counted yet. */
export async function readCountedPosition(database: Pooled): Promise<number> {
  const [position] = (await readSweepPosition(database, metricsSweep))[cursorKey] ?? []
  return position === undefined ? readLastPosition(database) : Number(position)
}

export const writeCountedPosition = (database: Pooled, position: number): Promise<void> =>
  writeSweepPosition(database, metricsSweep, { [cursorKey]: [String(position)] })

/**
 * The sagas that have ended after a position of the log, each once, at its first SagaEnded, and the position
 * up to which the log was read. None, and the same position, while an event may still become visible among
 * them.
 */
export async function readNewlyEnded(
  database: Pooled,
  after: number,
): Promise<{ ended: EndedSaga[]; position: number }> {
  const horizon = await findLogHorizon(database)
  if (horizon === null || horizon <= after) return { ended: [], position: after }
  const { rows: ended } = await database.pool.query<EndedSaga>(
    `SELECT s.service_name AS "serviceName", s.status, s.outcome,
       EXTRACT(epoch FROM s.ended_at - s.started_at)::double precision AS "durationSeconds"
     FROM (SELECT DISTINCT tenant, saga_id, received_at FROM saga_events
       WHERE id > $1 AND id <= $2 AND operation = 'SagaEnded') e
     JOIN sagas s ON s.tenant = e.tenant AND s.id = e.saga_id AND s.ended_at = e.received_at`,
    [after, horizon],
  )
  return { ended, position: horizon }
}
