import { numberOf } from '../age.js'
import type { ReadCommand, RedisReader } from '../redis/redis-reader.js'
import { overdueScoreMax } from './latency.js'
import { countOf, type QueueReading, tailLength } from './queue-reading.js'

type Counted = Omit<QueueReading, 'candidates'> & { ids: string[] }

function countCommands(base: string, nowMs: number): ReadCommand[] {
  const overdueMax = overdueScoreMax(nowMs)
  return [
    ['llen', `${base}wait`],
    ['llen', `${base}paused`],
    ['zcard', `${base}prioritized`],
    ['zcount', `${base}delayed`, '-inf', overdueMax],
    ['zcard', `${base}delayed`],
    ['llen', `${base}active`],
    ['zcard', `${base}failed`],
    ['zcard', `${base}completed`],
    ['hget', `${base}meta`, 'paused'],
    ['hget', `${base}metrics:completed`, 'count'],
    ['hget', `${base}metrics:failed`, 'count'],
    ['zrangebyscore', `${base}delayed`, '-inf', overdueMax, 'WITHSCORES', 'LIMIT', 0, 1],
    // Workers take from the tail of the lists; both ends of the priorities approximate their oldest job.
    ['lrange', `${base}wait`, -tailLength, -1],
    ['lrange', `${base}paused`, -tailLength, -1],
    ['zrange', `${base}prioritized`, 0, 0],
    ['zrange', `${base}prioritized`, -1, -1],
  ]
}

function countedOf(answers: unknown[]): Counted {
  const [waiting, pausedJobs, prioritized, overdue, delayed, active, failed, completed, isPaused, ...rest] =
    answers
  const [metricsCompleted, metricsFailed, firstOverdue, ...ids] = rest as [unknown, unknown, ...string[][]]
  return {
    waiting: countOf(waiting),
    pausedJobs: countOf(pausedJobs),
    prioritized: countOf(prioritized),
    overdue: countOf(overdue),
    delayed: countOf(delayed),
    active: countOf(active),
    failed: countOf(failed),
    completed: countOf(completed),
    isPaused: isPaused !== null,
    metricsCompleted: numberOf(metricsCompleted),
    metricsFailed: numberOf(metricsFailed),
    overdueScore: numberOf(firstOverdue?.[1]),
    ids: [...new Set(ids.flat())],
  }
}

/**
 * Reads queues with plain commands in two round trips: counts, then the oldest jobs. What a job carries is never
 * read.
 *
 * @param bases first part of the keys of each queue, with its colon
 */
export async function readByCommands(
  redis: RedisReader,
  bases: string[],
  nowMs: number,
): Promise<QueueReading[]> {
  const commands = bases.map((base) => countCommands(base, nowMs))
  const answers = await redis.read(commands.flat())
  const length = commands[0]?.length ?? 0
  const counted = bases.map((_base, index) => countedOf(answers.slice(index * length, (index + 1) * length)))

  const wanted = counted.flatMap(({ ids }, index) =>
    ids.map((id): ReadCommand => ['hmget', `${bases[index]}${id}`, 'timestamp', 'processedOn', 'opts']),
  )
  const times = (await redis.read(wanted)) as (string | null)[][]
  let next = 0
  return counted.map(({ ids, ...reading }) => ({
    ...reading,
    candidates: ids.map(() => {
      const [timestamp = null, processedOn = null, opts = null] = times[next++] ?? []
      return { timestamp, processedOn, opts }
    }),
  }))
}
