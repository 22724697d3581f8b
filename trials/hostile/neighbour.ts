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
/** Time after the attack that is still measured, because its aftermath counts, too. */
const afterMs = 1_000

export interface Seen {
  /** Answers to a request that needs only the service. */
  small: Answers
  /** Answers to a request that needs git; undefined for a service without git. */
  read: Answers | undefined
  /** Largest growth of the service's memory. */
  grownBytes: number
}

/**
 * Runs `attack` while a neighbour repeatedly sends a small request, and one that reads its repository with
 * git, and reports the neighbour's answers. The neighbour is a separate process, so that its times do not
 * include the work of the attacker.
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
