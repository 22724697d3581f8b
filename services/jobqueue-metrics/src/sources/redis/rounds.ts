import type { ReadCommand } from './read-command.js'
import type { RedisReader } from './redis-reader.js'

/** Asks a question. What is asked of an answer is part of the next round. */
export type Ask = (question: ReadCommand, answered: (answer: unknown) => void) => void

/**
 * Asks in rounds, each of which takes one round trip however many questions there are, until nothing is left to ask.
 *
 * @param begin asks what is known from the start
 * @returns what `begin` does, once all is answered
 */
export async function askInRounds<Result>(
  redis: Pick<RedisReader, 'read'>,
  begin: (ask: Ask) => Result,
): Promise<Result> {
  let questions: ReadCommand[] = []
  let answered: ((answer: unknown) => void)[] = []
  const result = begin((question, take) => {
    questions.push(question)
    answered.push(take)
  })
  while (questions.length > 0) {
    const [asked, takes] = [questions, answered]
    questions = []
    answered = []
    const answers = await redis.read(asked)
    for (let index = 0; index < takes.length; index += 1) takes[index]?.(answers[index])
  }
  return result
}
