import type { JobTotals } from '../job-source.js'
import type { BullmqQueue } from './queue-reading.js'
import type { Registry } from './read-registry.js'

/**
 * Totals of all queues. Workers with a heartbeat count attempts; of the other queues only jobs that came to an end
 * are known, each once. BullMQ keeps jobs that wait for another attempt among the delayed ones, where they count
 * as scheduled.
 *
 * @param served queues that the registry knows
 */
export function totalsOf(served: BullmqQueue[], others: BullmqQueue[], registry: Registry): JobTotals {
  const queues = [...served, ...others]
  const sum = <T>(items: T[], part: (item: T) => number) =>
    items.reduce((total, item) => total + part(item), 0)
  return {
    processed: registry.processed + sum(others, ({ ended }) => ended.processed),
    failed: registry.failed + sum(others, ({ ended }) => ended.failed),
    scheduled: sum(queues, ({ scheduled }) => scheduled),
    retry: 0,
    dead: sum(queues, ({ dead }) => dead),
    approximate: others.some(({ ended }) => ended.approximate),
  }
}
