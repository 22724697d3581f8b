import type { JobTotals, QueueMetrics, SourceSnapshot } from '../sources/sources.js'

/**
 * Merges several sources: sums of backlogs and totals, the longest latencies, all processes. Queues of the
 * same name in two sources are one queue.
 */
export function mergeSnapshots(snapshots: SourceSnapshot[]): SourceSnapshot {
  const queues = new Map<string, QueueMetrics>()
  for (const queue of snapshots.flatMap((snapshot) => snapshot.queues)) {
    const known = queues.get(queue.name)
    queues.set(queue.name, known ? mergeQueues(known, queue) : queue)
  }
  return {
    queues: [...queues.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    processes: snapshots.flatMap(({ processes }) => processes),
    jobs: snapshots.map(({ jobs }) => jobs).reduce(mergeTotals),
  }
}

const mergeQueues = (a: QueueMetrics, b: QueueMetrics): QueueMetrics => ({
  name: a.name,
  backlog: a.backlog + b.backlog,
  latencySeconds: Math.max(a.latencySeconds, b.latencySeconds),
  paused: a.paused && b.paused,
  busy: addKnown(a.busy, b.busy),
  processed: addKnown(a.processed, b.processed),
  failed: addKnown(a.failed, b.failed),
})

/** Returns the sum; null when either value is null, because the sum of the known part would look complete. */
const addKnown = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b)

const mergeTotals = (a: JobTotals, b: JobTotals): JobTotals => ({
  processed: a.processed + b.processed,
  failed: a.failed + b.failed,
  scheduled: a.scheduled + b.scheduled,
  retry: a.retry + b.retry,
  dead: a.dead + b.dead,
  approximate: a.approximate || b.approximate,
})
