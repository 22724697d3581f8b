import type { Cancellable } from '../cancellable.js'

/**
 * Lets those who lost a race for a branch try again one after the other. Side by side all but one of them would make
 * their commit in vain, again and again. Only this process is in order; between processes the branch moves only from
 * where it stood.
 */
export class BranchTurns {
  readonly #last = new Map<string, Promise<void>>()

  /**
   * @param path of the repository
   * @throws the reason of the signal when it is aborted before the turn comes; what the work throws
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
