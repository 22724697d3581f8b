import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, isDatabaseUnavailable } from '@switchyard/db'
import { type Clock, dayMs, isRefusal } from '@switchyard/domain'
import type { SagaEventStore } from '@switchyard/saga-store'
import type { Logger } from '@switchyard/service-kit/observability'
import { runBulkStep } from './step.js'
import { type BulkLease, claimBulkJob, failBulkJob, releaseBulkJob } from './step-store.js'
import { deleteBulkJobs } from './store.js'

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

export interface BulkRunner {
  /** Checks for jobs now. */
  wake: () => void
  /** Stops after the current step; another process can continue the job at once. */
  close: () => Promise<void>
}

/**
 * Works on bulk jobs of sagas, one at a time. They run here and not in the worker, because only saga-reporter
 * may write sagas.
 */
export function startBulkRunner(dependencies: Dependencies): BulkRunner {
  const { database, clock, logger } = dependencies
  const owner = randomUUID()
  const stopping = new AbortController()
  let waking = new AbortController()
  let cleanedMs = 0

  const rest = async () => {
    const { signal } = waking
    await delay(pauseMs, undefined, { signal }).catch(() => {})
    if (signal.aborted && !stopping.signal.aborted) waking = new AbortController()
  }

  async function clean(): Promise<void> {
    const now = clock().getTime()
    if (now - cleanedMs < cleaningMs) return
    cleanedMs = now
    await deleteBulkJobs(database, new Date(now - keptDays * dayMs))
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const lease = await claimBulkJob(database, owner, leaseMs)
        if (lease) await work(dependencies, lease, stopping.signal)
        else await clean()
        if (!lease) await rest()
      } catch (error) {
        logger.warn({ err: error }, 'could not run bulk jobs; trying again in 2 s')
        await rest()
      }
    }
  }

  const running = run()
  return {
    wake: () => waking.abort(),
    async close() {
      stopping.abort()
      waking.abort()
      await running
    },
  }
}

/** Works on a job until it ends, the lease ends, or the process stops. */
async function work(dependencies: Dependencies, lease: BulkLease, stopping: AbortSignal): Promise<void> {
  const { database, logger } = dependencies
  try {
    while (!stopping.aborted) if (!(await runBulkStep({ ...dependencies, leaseMs }, lease))) return
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
