import { setTimeout as delay } from 'node:timers/promises'
import { inPoolTransaction, type Pooled, type RepositoryLocation } from '@switchyard/db'
import { notFound, unavailable } from '@switchyard/domain'
import { repositoryMoved } from './storages.js'

/** Longest wait of a change for the end of a move. A move blocks changes for at most `stillMsMax`. */
const waitMsMax = 20_000
const askAgainMs = 50
const retryAfterMs = 5_000

/** Longest wait of a move for the current changes. */
const changesMsMax = 10_000
/** Time after which PostgreSQL takes the lock from an idle move, which then fails. */
const stillMsMax = 15_000

/**
 * The lock that changes of a repository share and a move takes exclusively. Housekeeping and moves also take
 * the maintenance lock (`withMaintenanceLock`).
 */
const lock = "hashtextextended('switchyard.changes ' || $1, 0)"

/**
 * Runs a change of a repository while the repository cannot be moved. It polls for the lock instead of
 * waiting for it, so that blocked changes occupy no database connections.
 *
 * @param work uses no database, because the change occupies one of the few connections already
 * @throws DomainError unavailable, without running `work`, when the repository has been moved, or a move
 *   takes too long; not-found when the project was deleted; also when the lock was lost during `work`
 */
export async function underSharedLock<Result>(
  { pool }: Pooled,
  { storage, diskPath }: RepositoryLocation,
  work: () => Promise<Result>,
): Promise<Result> {
  const giveUpMs = performance.now() + waitMsMax
  for (;;) {
    const done = await inPoolTransaction(pool, async (client) => {
      const question = `SELECT pg_try_advisory_xact_lock_shared(${lock}) AS free`
      const { rows } = await client.query<{ free: boolean }>(question, [diskPath])
      if (!rows[0]?.free) return null
      // A separate statement sees what the move has committed before it released the lock.
      const found = await client.query<{ storage: string }>(
        'SELECT storage FROM projects WHERE disk_path = $1',
        [diskPath],
      )
      const [project] = found.rows
      if (!project) throw notFound('Project')
      if (project.storage !== storage) throw repositoryMoved()
      return { result: await work() }
    })
    if (done) return done.result
    if (performance.now() > giveUpMs) throw unavailable('the repository is being moved', { retryAfterMs })
    await delay(askAgainMs)
  }
}

/** The steps of a move during which changes of the repository wait. */
interface ExclusiveWork {
  /** Brings the copy up to date. The original does not change until the move has ended. */
  complete: () => Promise<void>
  /** Puts the copy in its final place. */
  putInPlace: (project: { defaultBranch: string }) => Promise<void>
}

/**
 * Ends a move: waits for the current changes of the repository, blocks new ones, and makes the destination
 * the storage of the project, all atomically. Changes go on as soon as the connection ends, for whatever
 * reason.
 *
 * @throws Error when the project is gone or no longer in the source; every error of the work
 */
export async function moveUnderExclusiveLock(
  { pool }: Pooled,
  move: { id: number; projectId: number; diskPath: string; source: string; destination: string },
  { complete, putInPlace }: ExclusiveWork,
): Promise<void> {
  const begin = `BEGIN; SET LOCAL lock_timeout = ${changesMsMax};
    SET LOCAL idle_in_transaction_session_timeout = ${stillMsMax}`
  await inPoolTransaction(
    pool,
    async (client) => {
      await client.query(`SELECT pg_advisory_xact_lock(${lock})`, [move.diskPath])
      await complete()
      // The row is locked before HEAD is set, so that a change of the default branch comes before or after.
      const { rows } = await client.query<{ defaultBranch: string }>(
        `UPDATE projects SET storage = $3 WHERE id = $1 AND storage = $2 RETURNING default_branch AS "defaultBranch"`,
        [move.projectId, move.source, move.destination],
      )
      const [project] = rows
      if (!project)
        throw new Error('the project was deleted, or is no longer in the source storage of the move')
      await putInPlace(project)
      await client.query(
        `UPDATE repository_storage_moves SET state = 'finished', error = NULL, finished_at = now() WHERE id = $1`,
        [move.id],
      )
    },
    begin,
  )
}
