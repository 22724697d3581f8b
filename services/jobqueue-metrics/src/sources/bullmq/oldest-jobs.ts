import { ReadCommand } from '../redis/read-command.js'
import type { Ask } from '../redis/rounds.js'
import { type JobTimes, wasPutOff } from './latency.js'

/** BullMQ scores prioritized jobs by priority times this, plus a counter below it. */
const priorityScoreFactor = 2 ** 32

/** A queue may have two million priorities; of so many the first job is looked at. */
const prioritiesMax = 16

/** Takes what is known of a job that can have waited longest. */
export type TakeTimes = (times: JobTimes) => void

/** So many jobs at the tail of a list are looked at when the last one does not tell: it may hide older ones behind it. */
const tailLength = 5

/**
 * Asks for the times of jobs at the tail of a list that can have waited longest. Ids that BullMQ gives count up: where
 * the last job has a lower one than the job before it, it came first, and unless it was put off, it is the one.
 *
 * @param key of the list
 * @param ids of the last job and the one before it, the last at the end
 */
export function askForOldestOfList(
  ask: Ask,
  base: string,
  key: string,
  ids: string[],
  take: TakeTimes,
): void {
  const last = ids.at(-1)
  if (last === undefined) return
  const askForTail = () =>
    ask(new ReadCommand('lrange', key, -tailLength, -1), (answer) => {
      for (const id of answer as string[]) askForTimes(ask, base, id, take)
    })
  const cameFirst = ids.length === 1 || Number(last) < Number(ids[0])
  if (!cameFirst) {
    askForTail()
    return
  }
  askForTimes(ask, base, last, (times) => {
    if (times.timestamp === null || wasPutOff(times)) askForTail()
    else take(times)
  })
}

/**
 * Asks for the times of the first job of each priority; of so many in even steps where there are more.
 *
 * @param lowest id and score of the first prioritized job
 * @param highest of the last
 */
export function askForOldestOfPriorities(
  ask: Ask,
  base: string,
  [firstId, lowestScore]: string[],
  [, highestScore]: string[],
  take: TakeTimes,
): void {
  if (firstId === undefined) return
  askForTimes(ask, base, firstId, take)
  const lowest = Math.floor(Number(lowestScore) / priorityScoreFactor)
  const span = Math.floor(Number(highestScore) / priorityScoreFactor) - lowest
  const count = Math.min(span, prioritiesMax)
  const seen = new Set([firstId])
  for (let step = 1; step <= count; step += 1) {
    const score = (lowest + Math.ceil((span * step) / count)) * priorityScoreFactor
    const first = new ReadCommand('zrangebyscore', `${base}prioritized`, score, '+inf', 'LIMIT', 0, 1)
    ask(first, (answer) => {
      const [id] = answer as string[]
      if (id === undefined || seen.has(id)) return
      seen.add(id)
      askForTimes(ask, base, id, take)
    })
  }
}

function askForTimes(ask: Ask, base: string, id: string, take: TakeTimes): void {
  ask(new ReadCommand('hmget', base + id, 'timestamp', 'processedOn', 'opts'), (answer) => {
    const [timestamp = null, processedOn = null, opts = null] = answer as (string | null)[]
    take({ timestamp, processedOn, opts })
  })
}
