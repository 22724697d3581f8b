import type { Cancellable } from '../cancellable.js'

/**
 * Runs the retries of writers that lost a race for a branch one after the other. In parallel, all but one would create a
 * commit in vain each time. The order holds within this process only.
 */
export class BranchTurns {
  readonly #last = new Map<string, Promise<void>>()

  /**
   * @param path of the repository
   * @throws the reason of the signal when it is aborted before the turn comes; the error of the work
   */
  async take<Result>(
    path: string,
    branch: string,
    cancellable: Cancellable,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const key = `${path} ${branch}`
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

const nothing = () => {}
