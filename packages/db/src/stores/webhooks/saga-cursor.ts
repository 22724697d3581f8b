import type { Database } from '../../client.js'

type Pool = Pick<Database, 'pool'>

/** The read position of webhooks in the saga event log and in the flags. */
export interface SagaCursor {
  /** Id of the last event that was read; bigint as text. */
  position: string
  /** Id up to which events are read next; null: not chosen yet. */
  horizon: string | null
  /** Flags that were set up to this time have been read. */
  flagsSetAt: Date
  /** Current time of the database. */
  now: Date
}

export async function readSagaCursor({ pool }: Pool): Promise<SagaCursor> {
  const { rows } = await pool.query<SagaCursor>(
    `SELECT position, horizon, flags_set_at AS "flagsSetAt", now() FROM webhook_cursors WHERE name = 'sagas'`,
  )
  if (!rows[0]) throw new Error('webhook_cursors lacks its row for sagas, which the migration makes')
  return rows[0]
}

/** The last event id that the sequence has assigned, committed or not; bigint as text. */
export async function lastSagaEventId({ pool }: Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT COALESCE(pg_sequence_last_value('saga_events_id_seq'), 0) AS id",
  )
  return rows[0]?.id ?? '0'
}

/**
 * Sets the horizon to `id`, unless one is set. Events up to it can be read when every transaction that runs now has ended: ids
 * are assigned before their rows become visible, so a reader that did not wait would miss rows.
 */
export async function chooseHorizon({ pool }: Pool, id: string): Promise<void> {
  await pool.query(
    `UPDATE webhook_cursors
     SET horizon = $1, horizon_xid = pg_snapshot_xmax(pg_current_snapshot())::text::bigint
     WHERE name = 'sagas' AND horizon IS NULL AND position < $1`,
    [id],
  )
}

/**
 * The horizon when every event up to it is visible; null otherwise. A horizon whose transaction this server has not reached yet
 * was restored from the backup of another server, and so were all events up to it.
 */
export async function settledHorizon({ pool }: Pool): Promise<string | null> {
  const { rows } = await pool.query<{ horizon: string }>(
    `SELECT horizon FROM webhook_cursors WHERE name = 'sagas' AND horizon IS NOT NULL
     AND (horizon_xid <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
       OR horizon_xid > pg_snapshot_xmax(pg_current_snapshot())::text::bigint)`,
  )
  return rows[0]?.horizon ?? null
}

/** Stores that the events up to this id have been read. A lower id changes nothing. */
export async function advanceSagaCursor({ pool }: Pool, position: string): Promise<void> {
  await pool.query(
    `UPDATE webhook_cursors SET position = GREATEST(position, $1),
       horizon = CASE WHEN horizon > $1 THEN horizon END,
       horizon_xid = CASE WHEN horizon > $1 THEN horizon_xid END
     WHERE name = 'sagas'`,
    [position],
  )
}

/** Stores that the flags set up to this time have been read. An earlier time changes nothing. */
export async function advanceFlagCursor({ pool }: Pool, setAt: Date): Promise<void> {
  await pool.query(
    `UPDATE webhook_cursors SET flags_set_at = GREATEST(flags_set_at, $1) WHERE name = 'sagas'`,
    [setAt],
  )
}
