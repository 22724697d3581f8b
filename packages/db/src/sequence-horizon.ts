import { setTimeout as delay } from 'node:timers/promises'
import type { Pooled } from './client.js'

const pollMs = 20
const waitMsMax = 2_000

/**
 * Returns functions to read a table in the order of its ids, which come from a sequence, without missing a
 * row. Without them, a reader could miss the row of a transaction that has drawn an id and commits later than
 * transactions with higher ids.
 *
 * @param name first part of the names of its prepared statements
 */
export function sequenceHorizon(sequence: string, name: string) {
  const lastDrawn = {
    name: `${name}-last-drawn`,
    text: `SELECT COALESCE(pg_sequence_last_value('${sequence}'), 0)::double precision AS position`,
  }
  // A transaction takes this lock before it draws an id, and keeps it until its rows are visible or
  // discarded.
  const writers = {
    name: `${name}-writers`,
    text: `SELECT virtualtransaction AS writer FROM pg_locks
      WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
        AND relation = '${sequence}'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  }

  /** Returns the last id that was drawn, whether or not its row is visible or ever will be. */
  async function readLast({ pool }: Pooled): Promise<number> {
    const { rows } = await pool.query<{ position: number }>(lastDrawn)
    return rows[0]?.position ?? 0
  }

  /**
   * Returns the active transactions that may have drawn ids. Once all of those that were active after an id
   * was drawn have ended, no further row at that id becomes visible.
   */
  async function readWriters({ pool }: Pooled): Promise<Set<string>> {
    const { rows } = await pool.query<{ writer: string }>(writers)
    return new Set(rows.map(({ writer }) => writer))
  }

  /** Returns whether one of these transactions is still active. */
  async function isAnyActive(database: Pooled, transactions: ReadonlySet<string>): Promise<boolean> {
    if (transactions.size === 0) return false
    const now = await readWriters(database)
    return [...transactions].some((transaction) => now.has(transaction))
  }

  /**
   * Returns the last drawn id, once no further row up to it can become visible.
   *
   * @returns null when a transaction that may have drawn such an id is still active after two seconds
   */
  async function find(database: Pooled): Promise<number | null> {
    const last = await readLast(database)
    const transactions = await readWriters(database)
    const untilMs = performance.now() + waitMsMax
    while (await isAnyActive(database, transactions)) {
      if (performance.now() > untilMs) return null
      await delay(pollMs)
    }
    return last
  }

  return { readLast, readWriters, isAnyActive, find }
}
