import { numberOf } from '../age.js'
import { ReadCommand } from '../redis/read-command.js'
import type { Ask } from '../redis/rounds.js'
import { overdueScoreMax } from './latency.js'
import { askForOldestOfList, askForOldestOfPriorities } from './oldest-jobs.js'
import { othersThan, type QueueQuestions } from './queue-questions.js'
import { countOf, emptyReading, type JobKey, type QueueReading } from './queue-reading.js'

export interface AskAboutQueueOptions {
  questions: QueueQuestions
  nowMs: number
  /** Keys that are likely to be there. Of the others it is first asked whether there are any. */
  likely: readonly JobKey[]
  /** Whether jobs that came to an end are counted; zeros without. */
  wantsEnded: boolean
}

/**
 * Asks about one queue: what its keys hold, and the times of jobs that can be the oldest. What a job carries is
 * never read.
 *
 * @returns what will be known when all is answered
 */
export function askAboutQueue(ask: Ask, options: AskAboutQueueOptions): QueueReading {
  const { questions, nowMs, likely, wantsEnded } = options
  const reading = emptyReading()
  ask(questions.isPaused, (answer) => {
    reading.isPaused = answer !== null
  })
  const askAboutKeys = (keys: readonly JobKey[]) => {
    for (const key of keys) askAbout[key](ask, reading, questions, nowMs)
  }
  askAboutKeys(likely)
  const anyOther = questions.anyBeside(likely)
  if (anyOther) {
    ask(anyOther, (answer) => {
      if (countOf(answer) > 0) askAboutKeys(othersThan(likely))
    })
  }
  if (wantsEnded) askAboutEnded(ask, reading, questions)
  return reading
}

type AskAboutKey = (ask: Ask, reading: QueueReading, questions: QueueQuestions, nowMs: number) => void

const askForCount = (ask: Ask, question: ReadCommand, reading: QueueReading, key: JobKey) =>
  ask(question, (answer) => {
    reading[key] = countOf(answer)
  })

const askAboutList =
  (key: 'wait' | 'paused'): AskAboutKey =>
  (ask, reading, questions) => {
    const [count, lastTwo] = questions.about(key)
    askForCount(ask, count, reading, key)
    ask(lastTwo, (answer) => {
      const { base } = questions
      askForOldestOfList(ask, base, base + key, answer as string[], (times) => reading.candidates.push(times))
    })
  }

const askAboutCount =
  (key: 'active' | 'failed'): AskAboutKey =>
  (ask, reading, questions) =>
    askForCount(ask, questions.about(key)[0], reading, key)

const askAbout: Record<JobKey, AskAboutKey> = {
  wait: askAboutList('wait'),
  paused: askAboutList('paused'),
  active: askAboutCount('active'),
  failed: askAboutCount('failed'),
  prioritized(ask, reading, questions) {
    const [count, first, last] = questions.about('prioritized')
    let lowest: string[] = []
    askForCount(ask, count, reading, 'prioritized')
    ask(first, (answer) => {
      lowest = answer as string[]
    })
    ask(last, (answer) => {
      askForOldestOfPriorities(ask, questions.base, lowest, answer as string[], (times) =>
        reading.candidates.push(times),
      )
    })
  },
  delayed(ask, reading, questions, nowMs) {
    const key = `${questions.base}delayed`
    const overdueMax = overdueScoreMax(nowMs)
    askForCount(ask, questions.about('delayed')[0], reading, 'delayed')
    ask(new ReadCommand('zcount', key, '-inf', overdueMax), (answer) => {
      reading.overdue = countOf(answer)
    })
    const first = new ReadCommand('zrangebyscore', key, '-inf', overdueMax, 'WITHSCORES', 'LIMIT', 0, 1)
    ask(first, (answer) => {
      reading.overdueScore = numberOf((answer as string[])[1])
    })
  },
}

function askAboutEnded(ask: Ask, reading: QueueReading, questions: QueueQuestions): void {
  const [kept, completedEver, failedEver] = questions.ended()
  ask(kept, (answer) => {
    reading.completed = countOf(answer)
  })
  ask(completedEver, (answer) => {
    reading.metricsCompleted = numberOf(answer)
  })
  ask(failedEver, (answer) => {
    reading.metricsFailed = numberOf(answer)
  })
}
