import type { Database } from '../../client.js'

type Pool = Pick<Database, 'pool'>

/** How far the events of sagas have been read. */
export interface SagaCursor {
  /** Id of the last event that was read; bigint as text. */
  position: string
  /** The next to read up to; null: none is chosen. */
  horizon: string | null
  /** Up to when flags have been read. */
  flagsSetAt: Date
  /** The time, by the database's clock. */
  now: Date
}

export async function readSagaCursor({ pool }: Pool): Promise<SagaCursor> {
  const { rows } = await pool.query<SagaCursor>(
    `SELECT position, horizon, flags_set_at AS "flagsSetAt", now() FROM webhook_cursors WHERE name = 'sagas'`,
  )
  if (!rows[0]) throw new Error('webhook_cursors lacks its row for sagas, which the migration makes')
  return rows[0]
}

/** The last id that has been given to an event, committed or not; bigint as text. */
export async function lastSagaEventId({ pool }: Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT COALESCE(pg_sequence_last_value('saga_events_id_seq'), 0) AS id",
  )
  return rows[0]?.id ?? '0'
}

/**
 * Chooses what to read up to, unless that is chosen already: `id`, as soon as every transaction that runs now has
 * ended. Ids are given before their rows are visible, so a reader that did not wait would miss the slower ones.
 */
export async function chooseHorizon({ pool }: Pool, id: string): Promise<void> {
  await pool.query(
    `UPDATE webhook_cursors
     SET horizon = $1, horizon_xid = pg_snapshot_xmax(pg_current_snapshot())::text::bigint
     WHERE name = 'sagas' AND horizon IS NULL AND position < $1`,
    [id],
  )
}

/** What can be read up to without missing anything; null: nothing yet. */
export async function settledHorizon({ pool }: Pool): Promise<string | null> {
  const { rows } = await pool.query<{ horizon: string }>(
    `SELECT horizon FROM webhook_cursors WHERE name = 'sagas' AND horizon IS NOT NULL
     AND horizon_xid <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
  )
  return rows[0]?.horizon ?? null
}

/** Notes that everything up to this id has been read. Never goes back. */
export async function advanceSagaCursor({ pool }: Pool, position: string): Promise<void> {
  await pool.query(
    `UPDATE webhook_cursors SET position = GREATEST(position, $1),
       horizon = CASE WHEN horizon > $1 THEN horizon END,
       horizon_xid = CASE WHEN horizon > $1 THEN horizon_xid END
     WHERE name = 'sagas'`,
    [position],
  )
}

/** Notes that the flags set up to this time have been read. Never goes back. */
export async function advanceFlagCursor({ pool }: Pool, setAt: Date): Promise<void> {
  await pool.query(
    `UPDATE webhook_cursors SET flags_set_at = GREATEST(flags_set_at, $1) WHERE name = 'sagas'`,
    [setAt],
  )
}
