import type { ReadCommand, RedisReader } from '../redis/redis-reader.js'
import { numberOf } from '../values.js'
import { overdueScoreMax } from './job-times.js'

/** A queue whose jobs are counted. */
interface CountedBase {
  /** The first part of the queue's keys, with its colon. */
  base: string
  /** Whether its workers count attempts, so that its ended jobs need not be counted. */
  hasHeartbeat: boolean
}

/** The number of jobs in each key of a queue. */
export interface QueueCounts {
  isPaused: boolean
  waiting: number
  /** BullMQ up to version 5 moves the jobs of a paused queue into this list. */
  paused: number
  prioritized: number
  /** Includes overdue jobs. */
  delayed: number
  /** Delayed jobs that are due, which a running worker would move. */
  overdue: number
  active: number
  /** Failed jobs that are still kept. */
  failed: number
  /**
   * Completed jobs that are still kept. This and the following counts are not read for queues with a
   * heartbeat.
   */
  completed: number
  /** Total of jobs that completed; null unless a worker has the option `metrics`. */
  completedEver: number | null
  failedEver: number | null
}

const commandsAbout = ({ base, hasHeartbeat }: CountedBase, overdueMax: number): ReadCommand[] => [
  ['hget', `${base}meta`, 'paused'],
  ['llen', `${base}wait`],
  ['llen', `${base}paused`],
  ['zcard', `${base}prioritized`],
  ['zcard', `${base}delayed`],
  ['zcount', `${base}delayed`, '-inf', overdueMax],
  ['llen', `${base}active`],
  ['zcard', `${base}failed`],
  ...(hasHeartbeat ? [] : commandsAboutEnded(base)),
]

const commandsAboutEnded = (base: string): ReadCommand[] => [
  ['zcard', `${base}completed`],
  ['hget', `${base}metrics:completed`, 'count'],
  ['hget', `${base}metrics:failed`, 'count'],
]

export async function readQueueCounts(
  redis: RedisReader,
  bases: readonly CountedBase[],
  nowMs: number,
): Promise<QueueCounts[]> {
  const commands = bases.map((base) => commandsAbout(base, overdueScoreMax(nowMs)))
  const answers = await redis.read(commands.flat())
  let start = 0
  return commands.map(({ length }) => {
    start += length
    return countsOf(answers.slice(start - length, start))
  })
}

function countsOf([isPaused, ...counts]: unknown[]): QueueCounts {
  const [
    waiting,
    paused,
    prioritized,
    delayed,
    overdue,
    active,
    failed,
    completed,
    completedEver,
    failedEver,
  ] = counts.map(numberOf)
  return {
    isPaused: isPaused !== null,
    waiting: waiting ?? 0,
    paused: paused ?? 0,
    prioritized: prioritized ?? 0,
    delayed: delayed ?? 0,
    overdue: overdue ?? 0,
    active: active ?? 0,
    failed: failed ?? 0,
    completed: completed ?? 0,
    completedEver: completedEver ?? null,
    failedEver: failedEver ?? null,
  }
}
