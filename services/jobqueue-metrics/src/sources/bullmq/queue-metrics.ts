import { type JobTotals, latencySeconds, type QueueMetrics } from '../sources.js'
import type { QueueCounts } from './queue-counts.js'
import type { Registry } from './read-registry.js'

/** A queue with the data that was read. */
export interface ReadQueue {
  name: string
  counts: QueueCounts
  /** Since when the jobs that may be its oldest have been runnable, in epoch ms. */
  oldestMs: (number | null)[]
  /** Whether a process with a heartbeat has ever served it, so that its attempts are counted. */
  hasHeartbeat: boolean
}

/**
 * Returns the metrics of a queue. Its backlog is the jobs that could run now: waiting, paused and prioritized
 * jobs, and overdue delayed jobs, which only a running worker would move.
 */
export function queueMetrics(
  { name, counts, oldestMs, hasHeartbeat }: ReadQueue,
  { processedBy, failedBy }: Registry,
  nowMs: number,
): QueueMetrics {
  const { processed, failed, approximate } = endedOf(counts)
  return {
    name,
    backlog: counts.waiting + counts.paused + counts.prioritized + counts.overdue,
    latencySeconds: latencySeconds(oldestMs, nowMs),
    paused: counts.isPaused,
    busy: counts.active,
    processed: hasHeartbeat ? Number(processedBy[name] ?? 0) : approximate ? null : processed,
    failed: hasHeartbeat ? Number(failedBy[name] ?? 0) : approximate ? null : failed,
  }
}

/**
 * Returns totals of all queues. Workers with a heartbeat count attempts; in the other queues only ended jobs
 * are known, each once. BullMQ keeps jobs that wait for another attempt among the delayed ones, so they count
 * as scheduled.
 */
export function totalsOf(queues: readonly ReadQueue[], registry: Registry): JobTotals {
  const totals: JobTotals = {
    processed: registry.processed,
    failed: registry.failed,
    scheduled: 0,
    retry: 0,
    dead: 0,
    approximate: false,
  }
  for (const { counts, hasHeartbeat } of queues) {
    totals.scheduled += counts.delayed - counts.overdue
    totals.dead += counts.failed
    if (hasHeartbeat) continue
    const { processed, failed, approximate } = endedOf(counts)
    totals.processed += processed
    totals.failed += failed
    totals.approximate ||= approximate
  }
  return totals
}

/**
 * Returns the ended jobs of a queue without a heartbeat; approximate when only jobs that are still kept are
 * counted.
 */
function endedOf({ completed, failed, completedEver, failedEver }: QueueCounts) {
  const isCounted = completedEver !== null || failedEver !== null
  const [allCompleted, allFailed] = isCounted ? [completedEver ?? 0, failedEver ?? 0] : [completed, failed]
  return {
    processed: allCompleted + allFailed,
    failed: allFailed,
    approximate: !isCounted && completed + failed > 0,
  }
}
