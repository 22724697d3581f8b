import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { User } from '../support/api.js'
import { growthWhile, type Service } from '../support/memory.js'
import type { Tree } from '../support/tree.js'
import type { Answers, Question } from './ask-process.js'

const smallEveryMs = 80
const readEveryMs = 400
/** What an attack leaves behind counts, too. */
const afterMs = 1_000

export interface Seen {
  /** A question that needs the service alone. */
  small: Answers
  /** A question that needs git; undefined for a service without git. */
  read: Answers | undefined
  /** How much the memory of the service grew at most. */
  grownBytes: number
}

/**
 * Runs `attack` while a neighbour asks the service a small question, and git about its repository, again and
 * again, and reports how the neighbour was answered. The neighbour is a separate process, so that its times
 * do not include the work of the attacker.
 */
export async function besideNeighbour(
  tree: Tree,
  service: Service,
  { token, project }: User,
  attack: () => Promise<void>,
): Promise<Seen> {
  const question = (path: string, everyMs: number): Question => ({
    url: `${tree.url}/api/v4${path}`,
    token,
    everyMs,
  })
  const questions =
    service === 'git-api'
      ? [question('/user', smallEveryMs), question(`/projects/${project}/repository/branches`, readEveryMs)]
      : [question('/sagas?per_page=1', smallEveryMs)]
  const neighbour = fork(fileURLToPath(new URL('./ask-process.ts', import.meta.url)), [
    JSON.stringify(questions),
  ])
  await once(neighbour, 'message')
  const answered = once(neighbour, 'message')
  let grownBytes = 0
  try {
    grownBytes = await growthWhile(tree.pid, service, async () => {
      await attack()
      await delay(afterMs)
    })
  } finally {
    neighbour.send('over')
  }
  const [[small, read]] = (await answered) as [[Answers, Answers | undefined]]
  return { small, read, grownBytes }
}
