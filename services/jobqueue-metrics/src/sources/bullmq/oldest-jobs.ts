import type { ReadCommand, RedisReader } from '../redis/redis-reader.js'
import { numberOf } from '../values.js'
import { dueMs, overdueScoreMax, runnableSinceMs } from './job-times.js'
import type { QueueCounts } from './queue-counts.js'

/** BullMQ scores prioritized jobs by priority times this, plus a counter below it. */
const priorityScoreFactor = 2 ** 32

/**
 * Most priorities that are read. A queue may have two million; of more than this, evenly spread ones are
 * read.
 */
const prioritiesMax = 16

/**
 * Number of jobs at the tail of a list that are read. Workers take from the tail, and a job that was put
 * there out of turn may hide older ones behind it.
 */
const tailLength = 5

/** The keys of a queue, and its counts. */
interface CountedQueue {
  /** The first part of the queue's keys, with its colon. */
  base: string
  counts: QueueCounts
}

/** A command about one queue. */
interface Asked {
  queue: number
  command: ReadCommand
}

/**
 * Reads since when the jobs of each queue that may be its oldest have been runnable: the last ones of its
 * lists, the first one of each priority, the first overdue one. It never reads the payload of a job. Queues
 * without such jobs cost nothing; the others take two round trips, or three when a queue has several
 * priorities.
 *
 * @returns epoch ms for each queue, in any order; null where the hash of a job no longer exists
 */
export async function readOldestJobs(
  redis: RedisReader,
  queues: readonly CountedQueue[],
  nowMs: number,
): Promise<(number | null)[][]> {
  const [tails, priorities, overdue] = await Promise.all([
    readTails(redis, queues),
    readPriorities(redis, queues),
    readOverdue(redis, queues, nowMs),
  ])
  const jobs = queues.map(({ base }, queue) =>
    [...new Set([...(tails[queue] ?? []), ...(priorities[queue] ?? [])])].map((id) => base + id),
  )
  const times = await readTimes(redis, jobs)
  return queues.map((_queue, index) => [...(times[index] ?? []), ...(overdue[index] ?? [])])
}

/** Reads the ids of the last jobs of both lists of each queue. */
async function readTails(redis: RedisReader, queues: readonly CountedQueue[]): Promise<string[][]> {
  const asked = queues.flatMap(({ base, counts }, queue): Asked[] => [
    ...(counts.waiting > 0 ? [{ queue, command: tailOf(`${base}wait`) }] : []),
    ...(counts.paused > 0 ? [{ queue, command: tailOf(`${base}paused`) }] : []),
  ])
  return await ask(redis, queues.length, asked, (answer) => answer as string[])
}

const tailOf = (key: string): ReadCommand => ['lrange', key, -tailLength, -1]

/** Reads when the first overdue job of each queue was due. */
const readOverdue = (redis: RedisReader, queues: readonly CountedQueue[], nowMs: number) => {
  const limit = [overdueScoreMax(nowMs), 'WITHSCORES', 'LIMIT', 0, 1]
  const asked = queues.flatMap(({ base, counts }, queue): Asked[] =>
    counts.overdue > 0 ? [{ queue, command: ['zrangebyscore', `${base}delayed`, '-inf', ...limit] }] : [],
  )
  return ask(redis, queues.length, asked, (answer) => {
    const score = numberOf((answer as string[])[1])
    return score === null ? [] : [dueMs(score)]
  })
}

/** Reads the ids of the first job of each priority of each queue. */
async function readPriorities(redis: RedisReader, queues: readonly CountedQueue[]): Promise<string[][]> {
  const prioritized = queues.flatMap(({ counts }, queue) => (counts.prioritized > 0 ? [queue] : []))
  const keyOf = (queue: number) => `${queues[queue]?.base}prioritized`
  const bounds = await ask(
    redis,
    queues.length,
    prioritized.flatMap((queue): Asked[] => [
      { queue, command: ['zrange', keyOf(queue), 0, 0, 'WITHSCORES'] },
      { queue, command: ['zrange', keyOf(queue), -1, -1, 'WITHSCORES'] },
    ]),
    (answer) => [answer as string[]],
  )
  const firsts = await ask(
    redis,
    queues.length,
    prioritized.flatMap((queue) =>
      prioritiesBetween(bounds[queue] ?? []).map((priority): Asked => {
        const score = priority * priorityScoreFactor
        return { queue, command: ['zrangebyscore', keyOf(queue), score, '+inf', 'LIMIT', 0, 1] }
      }),
    ),
    (answer) => answer as string[],
  )
  return queues.map((_queue, index) => [...(bounds[index]?.[0]?.slice(0, 1) ?? []), ...(firsts[index] ?? [])])
}

/** Returns the priorities after the first job's priority up to the last job's priority. */
function prioritiesBetween([first = [], last = []]: string[][]): number[] {
  const priorityOf = (job: string[]) => Math.floor(Number(job[1] ?? 0) / priorityScoreFactor)
  const lowest = priorityOf(first)
  const span = priorityOf(last) - lowest
  const count = Math.max(0, Math.min(span, prioritiesMax))
  return Array.from({ length: count }, (_each, step) => lowest + Math.ceil((span * (step + 1)) / count))
}

/** Reads since when each of the jobs has been runnable. */
function readTimes(redis: RedisReader, jobs: readonly string[][]): Promise<(number | null)[][]> {
  const asked = jobs.flatMap((keys, queue) =>
    keys.map((key): Asked => ({ queue, command: ['hmget', key, 'timestamp', 'processedOn', 'opts'] })),
  )
  return ask(redis, jobs.length, asked, (answer) => {
    const [timestamp = null, processedOn = null, opts = null] = answer as (string | null)[]
    return [runnableSinceMs({ timestamp, processedOn, opts })]
  })
}

/** Sends the commands about all queues together. @returns the values of their answers, by queue */
async function ask<Value>(
  redis: RedisReader,
  queueCount: number,
  asked: readonly Asked[],
  valuesOf: (answer: unknown) => Value[],
): Promise<Value[][]> {
  const answers = await redis.read(asked.map(({ command }) => command))
  const byQueue = Array.from({ length: queueCount }, (): Value[] => [])
  for (const [index, { queue }] of asked.entries()) byQueue[queue]?.push(...valuesOf(answers[index]))
  return byQueue
}
