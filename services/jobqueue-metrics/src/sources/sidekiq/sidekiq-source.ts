import type { Clock } from '@switchyard/domain'
import type { SidekiqSourceConfig } from '../../source-config.js'
import { readProcesses } from '../read-processes.js'
import type { ReadCommand, RedisReader } from '../redis/redis-reader.js'
import { type JobSource, latencySeconds, type QueueMetrics, type SourceSnapshot } from '../sources.js'
import { numberOf, objectOf } from '../values.js'

/**
 * Reads Sidekiq 5 to 8 in two round trips: names and totals, then queues and processes. Sidekiq itself stores
 * the sets of its queues and processes. Nothing is cleaned up: a process without a hash is skipped, not
 * removed.
 */
export function createSidekiqSource(
  { name, namespace }: SidekiqSourceConfig,
  redis: RedisReader,
  clock: Clock,
): JobSource {
  const keyOf = (part: string) => (namespace === undefined ? part : `${namespace}:${part}`)
  return {
    name,
    async read(): Promise<SourceSnapshot> {
      const [{ names, paused, identities, jobs }, aheadMs] = await Promise.all([
        readNames(redis, keyOf),
        redis.clockAheadMs(),
      ])
      const nowMs = clock().getTime() + aheadMs
      const [answers, processes] = await Promise.all([
        redis.read(names.flatMap((queue) => commandsAbout(keyOf(`queue:${queue}`)))),
        readProcesses(redis, identities, keyOf, { nowMs, aheadMs }),
      ])
      const queues = names.map((queue, index): QueueMetrics => {
        const [length, oldest] = answers.slice(index * 2, index * 2 + 2)
        return {
          name: queue,
          backlog: Number(length),
          latencySeconds: latencySeconds([enqueuedAtMs(oldest as string | null)], nowMs),
          paused: paused.has(queue),
          busy: null,
          processed: null,
          failed: null,
        }
      })
      return { queues, processes, jobs }
    },
    close: () => redis.close(),
  }
}

/** Returns commands for the length of a queue, and for the job at its tail, from which workers take jobs. */
const commandsAbout = (key: string): ReadCommand[] => [
  ['llen', key],
  ['lindex', key, -1],
]

async function readNames(redis: RedisReader, keyOf: (part: string) => string) {
  const [names, identities, paused, ...counts] = (await redis.read([
    ['smembers', keyOf('queues')],
    ['smembers', keyOf('processes')],
    ['smembers', keyOf('paused')],
    ['get', keyOf('stat:processed')],
    ['get', keyOf('stat:failed')],
    ['zcard', keyOf('schedule')],
    ['zcard', keyOf('retry')],
    ['zcard', keyOf('dead')],
  ])) as [string[], string[], string[], ...unknown[]]
  const [processed = 0, failed = 0, scheduled = 0, retry = 0, dead = 0] = counts.map(Number)
  return {
    names: names.sort(),
    identities,
    paused: new Set(paused),
    jobs: { processed, failed, scheduled, retry, dead, approximate: false },
  }
}

/**
 * Sidekiq writes times as seconds with a fraction up to version 7, and as whole milliseconds since version 8.
 * A whole float looks like an integer here, so the size decides: seconds reach this value in the year 5138.
 */
const millisecondsFrom = 1e11

/**
 * Returns when a job was enqueued, in epoch ms. Null when the job has no such time or cannot be parsed,
 * because an unknown age is not an error.
 *
 * @param text the job as its list contains it
 */
function enqueuedAtMs(text: string | null): number | null {
  const job = objectOf(text)
  if (job === null) return null
  const enqueuedAt = numberOf(job.enqueued_at)
  if (enqueuedAt !== null) return enqueuedAt > millisecondsFrom ? enqueuedAt : enqueuedAt * 1000
  // Only Sidekiq 8 requires the creation time instead.
  const createdAt = numberOf(job.created_at)
  return createdAt !== null && createdAt > millisecondsFrom ? createdAt : null
}
