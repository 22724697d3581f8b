import type { Clock } from '@switchyard/domain'
import { latencySeconds } from '../age.js'
import type { JobSource, QueueFigures, SourceSnapshot } from '../job-source.js'
import { createProcessReader } from '../process-hash.js'
import type { ReadCommand, RedisReader } from '../redis/redis-reader.js'
import type { SidekiqSourceConfig } from '../source-config.js'
import { enqueuedAtMs } from './job-age.js'

/**
 * Sidekiq 5 to 8, read in two round trips: names and totals, then queues and processes. Nothing is cleaned up on
 * the way: members of `processes` without a hash are skipped, not removed.
 */
export function createSidekiqSource(
  { name, namespace }: SidekiqSourceConfig,
  redis: RedisReader,
  clock: Clock,
): JobSource {
  const key = (part: string) => (namespace === undefined ? part : `${namespace}:${part}`)
  const processReader = createProcessReader()
  return {
    name,
    async read(): Promise<SourceSnapshot> {
      const { names, identities, paused, jobs } = await readNames(redis, key)
      const [answers, processes] = await Promise.all([
        redis.read(
          names.flatMap((queue): ReadCommand[] => [
            ['llen', key(`queue:${queue}`)],
            // Workers take from the tail, so the oldest is there.
            ['lindex', key(`queue:${queue}`), -1],
          ]),
        ),
        processReader.read(redis, identities, key),
      ])
      const nowMs = clock().getTime()
      const queues = names.map((queue, index): QueueFigures => {
        const oldest = answers[index * 2 + 1] as string | null
        return {
          name: queue,
          backlog: Number(answers[index * 2]),
          latencySeconds: latencySeconds([enqueuedAtMs(oldest)], nowMs),
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

async function readNames(redis: RedisReader, key: (part: string) => string) {
  const [names, identities, paused, ...counts] = (await redis.read([
    ['smembers', key('queues')],
    ['smembers', key('processes')],
    ['smembers', key('paused')],
    ['get', key('stat:processed')],
    ['get', key('stat:failed')],
    ['zcard', key('schedule')],
    ['zcard', key('retry')],
    ['zcard', key('dead')],
  ])) as [string[], string[], string[], ...unknown[]]
  const [processed = 0, failed = 0, scheduled = 0, retry = 0, dead = 0] = counts.map(Number)
  return {
    names: names.sort(),
    identities,
    paused: new Set(paused),
    jobs: { processed, failed, scheduled, retry, dead, approximate: false },
  }
}
