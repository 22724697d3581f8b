import type { User } from '../support/api.js'
import type { Service } from '../support/memory.js'
import type { Tree } from '../support/tree.js'

export interface Scene {
  tree: Tree
  attacker: User
  neighbour: User
}

/** Does the work that many times, fifty at once. */
export async function sideBySide<Result>(
  times: number,
  work: (number: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async () => {
    while (next < times) {
      next += 1
      results.push(await work(next))
    }
  }
  await Promise.all(Array.from({ length: 50 }, worker))
  return results
}

/** An attack by a single caller on others. */
export interface Input {
  name: string
  /** The service that the neighbour uses, and whose memory is measured. */
  service: Service
  /** Prepares the attack before the neighbour is measured. */
  prepare?(scene: Scene): Promise<void>
  /** @returns the result, in a few words */
  run(scene: Scene): Promise<string>
}
