import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Answers, Question } from './ask-process.js'
import type { Service, Tree } from './tree.js'

const everyMs = 50
/** What an attack leaves behind counts, too. */
const afterMs = 1_000

export interface Seen extends Answers {
  /** How much the memory of the service grew at most. */
  grownBytes: number
}

/**
 * Runs `attack` while a neighbour asks the service a small question again and again, and reports how the neighbour was
 * answered. The neighbour is a separate process, so that its times do not include the work of the attacker.
 */
export async function besideNeighbour(
  tree: Tree,
  service: Service,
  token: string,
  attack: () => Promise<void>,
): Promise<Seen> {
  const path = service === 'git-api' ? '/api/v4/user' : '/api/v4/sagas?per_page=1'
  const question: Question = { url: `${tree.url}${path}`, token, everyMs }
  const neighbour = fork(fileURLToPath(new URL('./ask-process.ts', import.meta.url)), [
    JSON.stringify(question),
  ])
  await once(neighbour, 'message')
  const answered = once(neighbour, 'message')
  const before = tree.memoryOf(service)
  let grownBytes = 0
  const watch = setInterval(() => {
    grownBytes = Math.max(grownBytes, tree.memoryOf(service) - before)
  }, everyMs)
  try {
    await attack()
    await wait(afterMs)
  } finally {
    clearInterval(watch)
    neighbour.send('over')
  }
  const [answers] = (await answered) as [Answers]
  return { ...answers, grownBytes }
}
