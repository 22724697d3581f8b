import { conflict, excerpt } from '@switchyard/domain'
import type { Cancellable } from '../cancellable.js'

/** Most attempts of a writer within its turn, because other processes may move the branch. */
const attemptsMax = 20

/**
 * Runs the writers of a branch one after the other: those that lost a race for it, and those that come meanwhile. In parallel,
 * all but one would create a commit in vain each time. The order holds within this process only.
 */
export class BranchTurns {
  readonly #last = new Map<string, Promise<void>>()

  /** Whether another writer has the turn for the branch. A new writer should then wait in line by calling `take`. */
  isTaken(path: string, branch: string): boolean {
    return this.#last.has(keyOf(path, branch))
  }

  /**
   * @param path of the repository
   * @param attempt returns null when the branch has moved, and undefined when it was deleted
   * @throws DomainError conflict when the branch is deleted or keeps moving; the reason of the signal when it is aborted before
   *   the turn comes; the error of an attempt
   */
  take<Result>(
    path: string,
    branch: string,
    cancellable: Cancellable,
    attempt: () => Promise<Result | null | undefined>,
  ): Promise<Result> {
    return this.#inTurn(keyOf(path, branch), cancellable, async () => {
      for (let count = 0; count < attemptsMax; count += 1) {
        const result = await attempt()
        if (result) return result
        if (result === undefined) break
      }
      throw movedMeanwhile(branch)
    })
  }

  async #inTurn<Result>(key: string, cancellable: Cancellable, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key)
    const turn = (async () => {
      await before
      cancellable.signal?.throwIfAborted()
      return work()
    })()
    const over = turn.then(nothing, nothing)
    this.#last.set(key, over)
    try {
      return await turn
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key)
    }
  }
}

const keyOf = (path: string, branch: string) => `${path} ${branch}`

const nothing = () => {}

export const movedMeanwhile = (branch: string) =>
  conflict(`The branch ${excerpt(branch)} was changed meanwhile. Please refresh and try again`)
