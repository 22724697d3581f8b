import type { Clock } from '@switchyard/domain'
import { latencySeconds } from '../age.js'
import type { JobSource, QueueFigures, SourceSnapshot } from '../job-source.js'
import { createProcessReader } from '../process-hash.js'
import { createReadAhead } from '../read-ahead.js'
import { ReadCommand } from '../redis/read-command.js'
import type { RedisReader } from '../redis/redis-reader.js'
import type { SidekiqSourceConfig } from '../source-config.js'
import { enqueuedAtMs } from './job-age.js'

/**
 * Sidekiq 5 to 8, read in one round trip once its queues and processes are known: names and totals, and meanwhile
 * what is behind the names. Nothing is cleaned up on the way: members of `processes` without a hash are skipped, not removed.
 */
export function createSidekiqSource(
  { name, namespace }: SidekiqSourceConfig,
  redis: RedisReader,
  clock: Clock,
): JobSource {
  const key = (part: string) => (namespace === undefined ? part : `${namespace}:${part}`)
  const readProcesses = createProcessReader(redis, key)
  const readKnown = createReadAhead<QueueReading>()
  return {
    name,
    async read(): Promise<SourceSnapshot> {
      const asked = readNames(redis, key)
      const [{ names, paused, jobs }, readings, processes] = await Promise.all([
        asked,
        readKnown(
          asked.then((answer) => answer.names),
          (queues, before) =>
            readQueues(
              redis,
              queues.map((queue, index) => before[index]?.questions ?? questionsAbout(key(`queue:${queue}`))),
            ),
        ),
        readProcesses(asked.then(({ identities }) => identities)),
      ])
      const nowMs = clock().getTime()
      const queues = names.map((queue, index): QueueFigures => {
        const { length, oldest } = readings[index] as QueueReading
        return {
          name: queue,
          backlog: length,
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

type QueueQuestions = [length: ReadCommand, oldest: ReadCommand]

interface QueueReading {
  length: number
  /** The job at the tail, from where workers take, as it is stored. */
  oldest: string | null
  questions: QueueQuestions
}

const questionsAbout = (key: string): QueueQuestions => [
  new ReadCommand('llen', key),
  new ReadCommand('lindex', key, -1),
]

async function readQueues(redis: RedisReader, queues: QueueQuestions[]): Promise<QueueReading[]> {
  const answers = await redis.read(queues.flat())
  return queues.map((questions, index) => ({
    length: Number(answers[index * 2]),
    oldest: answers[index * 2 + 1] as string | null,
    questions,
  }))
}

async function readNames(redis: RedisReader, key: (part: string) => string) {
  const [names, identities, paused, ...counts] = (await redis.read([
    new ReadCommand('smembers', key('queues')),
    new ReadCommand('smembers', key('processes')),
    new ReadCommand('smembers', key('paused')),
    new ReadCommand('get', key('stat:processed')),
    new ReadCommand('get', key('stat:failed')),
    new ReadCommand('zcard', key('schedule')),
    new ReadCommand('zcard', key('retry')),
    new ReadCommand('zcard', key('dead')),
  ])) as [string[], string[], string[], ...unknown[]]
  const [processed = 0, failed = 0, scheduled = 0, retry = 0, dead = 0] = counts.map(Number)
  return {
    names: names.sort(),
    identities,
    paused: new Set(paused),
    jobs: { processed, failed, scheduled, retry, dead, approximate: false },
  }
}
