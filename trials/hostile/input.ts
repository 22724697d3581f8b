import type { User } from '../support/api.js'
import type { Service } from '../support/memory.js'
import type { Tree } from '../support/tree.js'

export interface Scene {
  tree: Tree
  attacker: User
  neighbour: User
}

/** Does the work so many times, fifty at once. */
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

/** Something that one caller may send to hurt another one. */
export interface Input {
  name: string
  /** The service whose memory counts, and which the neighbour asks. */
  service: Service
  /** Makes what the attack needs, before the neighbour is watched. */
  prepare?(scene: Scene): Promise<void>
  /** @returns the result, in a few words */
  run(scene: Scene): Promise<string>
}
