import type { HistorySample } from '@switchyard/contracts/jobs'
import type { Clock } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Redis } from 'ioredis'
import type { Snapshots } from '../snapshots/snapshots.js'
import type { History, Resolution } from './history.js'
import { metricsOf } from './sample.js'
import { createHistoryStore } from './store.js'

interface RecordHistoryDependencies {
  snapshots: Snapshots
  history: History
  /** Switchyard's own Redis. While it is unreachable, the history is stored only in memory. */
  redis: Redis
  clock: Clock
  logger: Logger
}

const tickMs = 10_000

/** Samples every source every ten seconds until it is stopped. A source that does not answer leaves a gap. */
export function recordHistory({ snapshots, history, redis, clock, logger }: RecordHistoryDependencies) {
  const store = createHistoryStore(redis, tickMs)
  let restored = false

  async function restore(): Promise<void> {
    if (restored) return
    restored = true
    try {
      for (const resolution of [10, 60] as const) {
        await history.restore(resolution, store.load(resolution), clock().getTime())
      }
    } catch (error) {
      restored = false
      logger.warn({ err: error }, 'could not restore the history')
    }
  }

  async function tick(): Promise<void> {
    const sample = await takeSample(snapshots, clock().getTime())
    const resolutions: Resolution[] = history.beginsMinute(sample.atMs) ? [10, 60] : [10]
    const kept = history.add(sample)
    await store
      .save(kept, resolutions)
      .catch((error: unknown) => logger.debug({ err: error }, 'could not store the history'))
  }

  redis.on('ready', () => void restore())
  if (redis.status === 'ready') void restore()
  const timer = setInterval(() => void tick(), tickMs).unref()
  return { tick, stop: () => clearInterval(timer) }
}

async function takeSample(snapshots: Snapshots, atMs: number): Promise<HistorySample> {
  const outcomes = await Promise.allSettled(snapshots.names.map((name) => snapshots.read(name)))
  const metrics = outcomes.flatMap((outcome, index) =>
    outcome.status === 'fulfilled' ? metricsOf(snapshots.names[index] ?? '', outcome.value) : [],
  )
  return { atMs, metrics: new Map(metrics) }
}
