import type { Database } from '@switchyard/db'
import { type Clock, dayMs } from '@switchyard/domain'
import { jobType } from '../job-type.js'
import { deleteInBatches } from '../sweeps.js'
import { deleteDeadSessions, deleteTokensDeadSince } from './store.js'

/** Time for which the row of an expired or revoked token is kept, so that operators can investigate. */
const keptMs = 30 * dayMs
const rowsAtOnce = 5000

/**
 * Deletes the rows of tokens that expired or were revoked over 30 days ago, and of ended sessions. They do
 * not work before this job, either.
 */
export const expiredTokenCleanup = ({ database, clock }: { database: Database; clock: Clock }) =>
  jobType({
    queue: 'expired-token-cleanup',
    concurrency: 1,
    timeoutMs: 5 * 60_000,
    schedule: { pattern: '0 * * * *', attempts: 5, retryDelayMs: 10_000 },
    async run(_payload, { signal, logger }) {
      const deleteAll = (deleteSome: (rowsMax: number) => Promise<number>) =>
        deleteInBatches(rowsAtOnce, () => !signal.aborted, deleteSome)
      const before = new Date(clock().getTime() - keptMs)
      const deleted = await deleteAll((rowsMax) => deleteTokensDeadSince(database, before, rowsMax))
      if (deleted > 0) logger.info({ deleted }, 'deleted expired and revoked tokens')
      const now = clock()
      const ended = await deleteAll((rowsMax) => deleteDeadSessions(database, now, rowsMax))
      if (ended > 0) logger.info({ deleted: ended }, 'deleted ended sessions')
    },
  })
