import { randomUUID } from 'node:crypto'
import { type Database, isDatabaseUnavailable } from '@switchyard/db'
import { type Clock, dayMs, isRefusal } from '@switchyard/domain'
import type { SagaEventStore } from '@switchyard/saga-store'
import { type Repeated, repeat } from '@switchyard/service-kit/lifecycle'
import { createOutageLog, type Logger, type OutageLog } from '@switchyard/service-kit/observability'
import { runBulkStep } from './step.js'
import { type BulkLease, claimBulkJob, failBulkJob, releaseBulkJob } from './step-store.js'
import { deleteBulkJob } from './store.js'

/** Time after which another process takes over a job whose lease was not renewed. */
const leaseMs = 30_000
/** Interval of the checks for jobs of other processes, and the pause before a retry after a failure. */
const pauseMs = 2000
const keptDays = 30
const cleaningMs = 3_600_000

interface Dependencies {
  database: Database
  store: SagaEventStore
  clock: Clock
  logger: Logger
}

/**
 * Works on bulk jobs of sagas, one at a time. They run here and not in the worker, because only saga-reporter
 * may write sagas. It stops after the step under way; another process can continue the job at once.
 */
export function startBulkRunner(deps: Dependencies): Repeated {
  const { database, clock, logger } = deps
  const owner = randomUUID()
  const outage = createOutageLog(logger, {
    lost: 'could not run bulk jobs; trying again every 2 s',
    back: 'bulk jobs run again',
  })
  let cleanedMs = 0

  async function clean(stopping: AbortSignal): Promise<void> {
    const now = clock().getTime()
    if (now - cleanedMs < cleaningMs) return
    cleanedMs = now
    const endedBefore = new Date(now - keptDays * dayMs)
    let isLeft = true
    while (isLeft && !stopping.aborted) isLeft = await deleteBulkJob(database, endedBefore)
  }

  async function workOnAll(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const lease = await claimBulkJob(database, owner, leaseMs)
      if (!lease) return clean(stopping)
      await work(deps, lease, outage, stopping)
    }
  }

  const workAndReport = async (stopping: AbortSignal) => {
    await workOnAll(stopping)
    outage.worked()
  }
  return repeat(workAndReport, pauseMs, (error) => outage.failed({ err: error }))
}

/** Works on a job until it ends, the lease ends, or the process stops. */
async function work(
  deps: Dependencies,
  lease: BulkLease,
  outage: OutageLog,
  stopping: AbortSignal,
): Promise<void> {
  const { database, logger } = deps
  try {
    while (!stopping.aborted) {
      const isLeft = await runBulkStep({ ...deps, leaseMs }, lease)
      outage.worked()
      if (!isLeft) return
    }
    await releaseBulkJob(database, lease)
  } catch (error) {
    if (isTemporary(error)) {
      await releaseBulkJob(database, lease)
      throw error
    }
    logger.error({ err: error, bulk_job: lease.id }, 'a bulk job of sagas has failed')
    await failBulkJob(database, lease)
  }
}

const isTemporary = (error: unknown): boolean =>
  isDatabaseUnavailable(error) || isRefusal(error, 'unavailable')
