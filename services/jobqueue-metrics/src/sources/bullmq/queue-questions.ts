import { ReadCommand } from '../redis/read-command.js'
import { type JobKey, jobKeys } from './queue-reading.js'

/** How many jobs a key holds, then what tells the oldest of them. */
interface Questions {
  wait: [count: ReadCommand, lastTwo: ReadCommand]
  paused: [count: ReadCommand, lastTwo: ReadCommand]
  prioritized: [count: ReadCommand, first: ReadCommand, last: ReadCommand]
  delayed: [count: ReadCommand]
  active: [count: ReadCommand]
  failed: [count: ReadCommand]
}

/** Workers take from the end of a list. */
const aboutList = (key: string): Questions['wait'] => [
  new ReadCommand('llen', key),
  new ReadCommand('lrange', key, -2, -1),
]

const write: { [Key in JobKey]: (key: string) => Questions[Key] } = {
  wait: aboutList,
  paused: aboutList,
  prioritized: (key) => [
    new ReadCommand('zcard', key),
    new ReadCommand('zrange', key, 0, 0, 'WITHSCORES'),
    new ReadCommand('zrange', key, -1, -1, 'WITHSCORES'),
  ],
  delayed: (key) => [new ReadCommand('zcard', key)],
  active: (key) => [new ReadCommand('llen', key)],
  failed: (key) => [new ReadCommand('zcard', key)],
}

type EndedQuestions = [kept: ReadCommand, completedEver: ReadCommand, failedEver: ReadCommand]

/** Questions about a queue that are the same each time, kept from snapshot to snapshot. */
export class QueueQuestions {
  readonly isPaused: ReadCommand
  private readonly kept: Partial<Questions> = {}
  private keptEnded: EndedQuestions | null = null
  private rest: { beside: string; question: ReadCommand | null } | null = null

  /** @param base first part of the queue's keys, with its colon */
  constructor(readonly base: string) {
    this.isPaused = new ReadCommand('hget', `${base}meta`, 'paused')
  }

  about<Key extends JobKey>(key: Key): Questions[Key] {
    const questions: Questions[Key] = this.kept[key] ?? write[key](this.base + key)
    this.kept[key] = questions
    return questions
  }

  /** About jobs that came to an end. */
  ended(): EndedQuestions {
    this.keptEnded ??= [
      new ReadCommand('zcard', `${this.base}completed`),
      new ReadCommand('hget', `${this.base}metrics:completed`, 'count'),
      new ReadCommand('hget', `${this.base}metrics:failed`, 'count'),
    ]
    return this.keptEnded
  }

  /** Whether there is any key beside these; null when there is no other. */
  anyBeside(keys: readonly JobKey[]): ReadCommand | null {
    const beside = keys.join()
    if (this.rest?.beside !== beside) {
      const [first, ...others] = othersThan(keys).map((key) => this.base + key)
      const question = first === undefined ? null : new ReadCommand('exists', first, ...others)
      this.rest = { beside, question }
    }
    return this.rest.question
  }
}

export const othersThan = (keys: readonly JobKey[]): JobKey[] => jobKeys.filter((key) => !keys.includes(key))
