import { setTimeout as wait } from 'node:timers/promises'
import type { Service, Tree } from './tree.js'

/** A question of another user every so often, whatever became of the one before. */
const everyMs = 50

export interface Seen {
  /** Of the neighbour's answers. */
  worstMs: number
  answers: number
  /** Answers that were no success, and requests without an answer. */
  failures: number
  /** How much the memory of the service grew at most. */
  grownBytes: number
}

/** Runs `attack` while a neighbour asks the service a small question, and says how the neighbour fared. */
export async function besideNeighbour(
  tree: Tree,
  service: Service,
  token: string,
  attack: () => Promise<void>,
): Promise<Seen> {
  const path = service === 'git-api' ? '/api/v4/user' : '/api/v4/sagas?per_page=1'
  const before = tree.memoryOf(service)
  const seen: Seen = { worstMs: 0, answers: 0, failures: 0, grownBytes: 0 }
  const asked: Promise<void>[] = []
  const ask = async () => {
    const startedMs = performance.now()
    const answer = await fetch(`${tree.url}${path}`, { headers: { 'PRIVATE-TOKEN': token } }).catch(
      () => null,
    )
    await answer?.arrayBuffer().catch(() => null)
    seen.worstMs = Math.max(seen.worstMs, performance.now() - startedMs)
    seen.answers += 1
    if (!answer?.ok) seen.failures += 1
  }
  let isOver = false
  const attacked = attack().finally(() => {
    isOver = true
  })
  // What the attack leaves behind counts for a second more.
  for (let idle = 0; idle < 20; idle += isOver ? 1 : 0) {
    asked.push(ask())
    seen.grownBytes = Math.max(seen.grownBytes, tree.memoryOf(service) - before)
    await wait(everyMs)
  }
  await Promise.all(asked)
  await attacked
  return seen
}
