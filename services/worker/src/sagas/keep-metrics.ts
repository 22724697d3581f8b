import { randomUUID } from 'node:crypto'
import type { Database } from '@switchyard/db'
import { repeat } from '@switchyard/service-kit/lifecycle'
import { createOutageLog, type Logger } from '@switchyard/service-kit/observability'
import { leaseSweep, releaseSweep, withinBudget } from '../sweeps.js'
import type { SagaMetrics } from './metrics.js'
import {
  metricsSweep,
  readCountedPosition,
  readNewlyEnded,
  readSagaGauges,
  writeCountedPosition,
} from './metrics-store.js'

interface KeepMetricsOptions {
  database: Database
  metrics: SagaMetrics
  logger: Logger
  everyMs: number
}

interface KeptMetrics {
  /** Hides the metrics and releases the lease, so that another process exports them. */
  stop(): Promise<void>
}

/**
 * Exports the metrics of sagas in only one worker, which holds a lease. It renews the lease until it stops,
 * so that the series stay with one process. When it fails to renew in time, it hides the metrics by its own
 * clock, before another worker can take the lease.
 */
export function keepMetrics({ database, metrics, logger, everyMs }: KeepMetricsOptions): KeptMetrics {
  const owner = randomUUID()
  const leaseMs = everyMs * 3
  let hiding: NodeJS.Timeout | undefined
  const outage = createOutageLog(logger, {
    lost: 'could not read the metrics of sagas',
    back: 'the metrics of sagas are read again',
  })

  async function run(stopping: AbortSignal): Promise<void> {
    await exportIfLeased(stopping)
    outage.worked()
  }

  async function exportIfLeased(stopping: AbortSignal): Promise<void> {
    const askedMs = Date.now()
    if (!(await leaseSweep(database, metricsSweep, owner, leaseMs))) return metrics.hideGauges()
    clearTimeout(hiding)
    // The lease begins after the request for it, so this timer ends before the lease.
    hiding = setTimeout(metrics.hideGauges, leaseMs - (Date.now() - askedMs)).unref()
    metrics.showGauges(await readSagaGauges(database))
    await countEnded(database, metrics, withinBudget(everyMs, stopping))
  }

  const repeated = repeat(run, everyMs, (error) => outage.failed({ err: error }))
  return {
    async stop() {
      await repeated.close()
      clearTimeout(hiding)
      metrics.hideGauges()
      // When the database is unreachable, the lease expires by itself.
      await releaseSweep(database, metricsSweep, owner).catch((error: unknown) =>
        logger.debug({ err: error }, 'could not release the lease of the metrics of sagas'),
      )
    },
  }
}

/** Counts the sagas that have ended since the last run. The very first run counts none. */
async function countEnded(
  database: Database,
  metrics: SagaMetrics,
  mayContinue: () => boolean,
): Promise<void> {
  let isDone = false
  while (!isDone && mayContinue()) {
    const { ended, position, isAtEnd } = await readNewlyEnded(database, await readCountedPosition(database))
    await writeCountedPosition(database, position)
    for (const saga of ended) metrics.ended(saga)
    isDone = isAtEnd
  }
}
