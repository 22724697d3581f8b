/**
 * A mutex for each key. It runs the tasks of a key one after the other, in the order given; tasks of
 * different keys run at the same time. The order holds within this process only.
 */
export class KeyedMutex {
  /** End of the last task, by key. */
  readonly #last = new Map<string, Promise<void>>()

  /** Returns whether a task of the key runs or waits. */
  isLocked(key: string): boolean {
    return this.#last.has(key)
  }

  /**
   * Runs a task after the earlier tasks of its key.
   *
   * @param signal a waiting task does not begin once it is aborted
   * @throws every error of the task; the reason of the signal
   */
  async run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const before = this.#last.get(key)
    const result = (async () => {
      await before
      signal?.throwIfAborted()
      return work()
    })()
    const end = result.then(ignore, ignore)
    this.#last.set(key, end)
    try {
      return await result
    } finally {
      if (this.#last.get(key) === end) this.#last.delete(key)
    }
  }
}

const ignore = () => {}
