import { processTtlSeconds, registryKeys } from '@switchyard/contracts/jobs'
import type { Clock } from '@switchyard/domain'
import type { Redis } from 'ioredis'
import type { JobSource, SourceSnapshot } from '../job-source.js'
import { answersOf } from './pipeline.js'
import { readProcesses } from './read-processes.js'
import { readQueues } from './read-queues.js'

/**
 * BullMQ queues and the processes of our registry, read with plain commands in three round trips: names,
 * figures, oldest jobs. BullMQ's own Queue class is not used, because it writes while it reads.
 */
export function createBullmqSource(redis: Redis, clock: Clock): JobSource {
  return {
    name: 'bullmq',
    async read(): Promise<SourceSnapshot> {
      const nowMs = clock().getTime()
      const { names, ids, processed, failed } = await readRegistry(redis, nowMs)
      const [queues, processes] = await Promise.all([
        readQueues(redis, names, nowMs),
        readProcesses(redis, ids),
      ])
      const total = (part: 'scheduled' | 'dead') => queues.reduce((sum, queue) => sum + queue[part], 0)
      // BullMQ keeps jobs that wait for another attempt among the delayed ones, where they count as scheduled.
      const jobs = { processed, failed, scheduled: total('scheduled'), retry: 0, dead: total('dead') }
      return { queues, processes, jobs }
    },
  }
}

async function readRegistry(redis: Redis, nowMs: number) {
  const pipeline = redis.pipeline()
  pipeline.smembers(registryKeys.queues)
  pipeline.zrangebyscore(registryKeys.processes, nowMs - processTtlSeconds * 1000, '+inf')
  pipeline.mget(registryKeys.processed, registryKeys.failed)
  const [names, ids, totals] = (await answersOf(pipeline)) as [string[], string[], (string | null)[]]
  return {
    names: names.sort(),
    ids,
    processed: Number(totals[0] ?? 0),
    failed: Number(totals[1] ?? 0),
  }
}
