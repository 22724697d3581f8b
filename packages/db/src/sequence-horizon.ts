import { setTimeout as delay } from 'node:timers/promises'
import type { Pooled } from './client.js'

const pollMs = 20
const waitMsMax = 2_000

/**
 * Reads a table in the order of its ids, which come from a sequence, without missing a row: a transaction
 * that has drawn an id and not committed yet becomes visible later than the ids after it.
 *
 * @param name first part of the names of its prepared statements
 */
export function sequenceHorizon(sequence: string, name: string) {
  const lastDrawn = {
    name: `${name}-last-drawn`,
    text: `SELECT COALESCE(pg_sequence_last_value('${sequence}'), 0)::double precision AS position`,
  }
  // Drawing an id takes this lock first, and the transaction keeps it until its rows are visible or
  // discarded.
  const writers = {
    name: `${name}-writers`,
    text: `SELECT virtualtransaction AS writer FROM pg_locks
      WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
        AND relation = '${sequence}'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  }

  /** The last id that was drawn, whether or not its row is visible or ever will be. */
  async function readLast({ pool }: Pooled): Promise<number> {
    const { rows } = await pool.query<{ position: number }>(lastDrawn)
    return rows[0]?.position ?? 0
  }

  /**
   * The transactions under way that may have drawn ids. When all transactions that were under way after an id
   * was drawn have ended, no row at that id becomes visible any more.
   */
  async function readWriters({ pool }: Pooled): Promise<Set<string>> {
    const { rows } = await pool.query<{ writer: string }>(writers)
    return new Set(rows.map(({ writer }) => writer))
  }

  async function isAnyUnderWay(database: Pooled, transactions: ReadonlySet<string>): Promise<boolean> {
    if (transactions.size === 0) return false
    const now = await readWriters(database)
    return [...transactions].some((transaction) => now.has(transaction))
  }

  /**
   * The last id that was drawn, once no further row up to it becomes visible.
   *
   * @returns null when a transaction that may have drawn one is still under way after two seconds
   */
  async function find(database: Pooled): Promise<number | null> {
    const last = await readLast(database)
    const transactions = await readWriters(database)
    const untilMs = performance.now() + waitMsMax
    while (await isAnyUnderWay(database, transactions)) {
      if (performance.now() > untilMs) return null
      await delay(pollMs)
    }
    return last
  }

  return { readLast, readWriters, find }
}
