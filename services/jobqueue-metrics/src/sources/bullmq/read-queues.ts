import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import type { ChainableCommander, Redis } from 'ioredis'
import type { QueueFigures } from '../job-source.js'
import { dueMs, latencySeconds, overdueScoreMax, runnableSinceMs } from './latency.js'
import { answersOf } from './pipeline.js'

export interface BullmqQueue extends QueueFigures {
  scheduled: number
  dead: number
}

/** Jobs put at the front of a queue hide older ones behind them, so more than one is looked at. */
const tailLength = 5

/** Counts of one queue, and the ids of those of its jobs that can be the oldest. */
interface Counted {
  name: string
  backlog: number
  scheduled: number
  dead: number
  /** Score of the first overdue delayed job; null without one. */
  overdueScore: number | null
  candidates: string[]
}

/**
 * Reads queues in two round trips, however many there are and however many jobs they hold.
 *
 * The backlog is what could run now: waiting, paused, prioritized, and delayed jobs that are overdue, which
 * only a running worker would move.
 */
export async function readQueues(redis: Redis, names: string[], nowMs: number): Promise<BullmqQueue[]> {
  const counts = await readCounts(redis, names, nowMs)
  const since = await readCandidates(redis, counts)
  return counts.map(({ name, backlog, scheduled, dead, overdueScore }, index) => {
    const overdueSince = overdueScore === null ? null : dueMs(overdueScore)
    const latency = latencySeconds([overdueSince, ...(since[index] ?? [])], nowMs)
    return { name, backlog, latencySeconds: latency, scheduled, dead }
  })
}

const commandsPerQueue = 11

function addCounts(pipeline: ChainableCommander, name: string, overdueMax: number): void {
  const key = (part: string) => `${jobKeyPrefix}:${name}:${part}`
  pipeline.llen(key('wait'))
  pipeline.llen(key('paused'))
  pipeline.zcard(key('prioritized'))
  pipeline.zcount(key('delayed'), '-inf', overdueMax)
  pipeline.zcard(key('delayed'))
  pipeline.zcard(key('failed'))
  pipeline.zrangebyscore(key('delayed'), '-inf', overdueMax, 'WITHSCORES', 'LIMIT', 0, 1)
  // Workers take from the tail of the lists; both ends of the priorities approximate their oldest job.
  pipeline.lrange(key('wait'), -tailLength, -1)
  pipeline.lrange(key('paused'), -tailLength, -1)
  pipeline.zrange(key('prioritized'), '0', '0')
  pipeline.zrange(key('prioritized'), '-1', '-1')
}

async function readCounts(redis: Redis, names: string[], nowMs: number): Promise<Counted[]> {
  const pipeline = redis.pipeline()
  for (const name of names) addCounts(pipeline, name, overdueScoreMax(nowMs))
  const answers = await answersOf(pipeline)
  return names.map((name, index) => {
    const own = answers.slice(index * commandsPerQueue, (index + 1) * commandsPerQueue)
    const [wait, paused, prioritized, overdue, delayed, failed] = own.slice(0, 6).map(Number)
    const [firstOverdue, ...candidates] = own.slice(6) as string[][]
    const score = firstOverdue?.[1]
    return {
      name,
      backlog: sum([wait, paused, prioritized, overdue]),
      scheduled: (delayed ?? 0) - (overdue ?? 0),
      dead: failed ?? 0,
      overdueScore: score === undefined ? null : Number(score),
      candidates: [...new Set(candidates.flat())],
    }
  })
}

/** For each queue, since when its candidates could run. Never reads what a job carries. */
async function readCandidates(redis: Redis, counts: Counted[]): Promise<(number | null)[][]> {
  const pipeline = redis.pipeline()
  for (const { name, candidates } of counts) {
    for (const id of candidates)
      pipeline.hmget(`${jobKeyPrefix}:${name}:${id}`, 'timestamp', 'processedOn', 'opts')
  }
  const answers = (await answersOf(pipeline)) as (string | null)[][]
  let next = 0
  return counts.map(({ candidates }) =>
    candidates.map(() => {
      const [timestamp = null, processedOn = null, opts = null] = answers[next++] ?? []
      return runnableSinceMs({ timestamp, processedOn, opts })
    }),
  )
}

const sum = (values: (number | undefined)[]) =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)
