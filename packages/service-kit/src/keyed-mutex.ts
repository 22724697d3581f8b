/**
 * Does the work of each key one after the other, in the order given; work of different keys runs at the same
 * time. The order holds within this process only.
 */
export class KeyedMutex {
  /** Key → the end of the work that was given last. */
  readonly #last = new Map<string, Promise<void>>()

  /** Whether work of the key runs or waits. */
  isLocked(key: string): boolean {
    return this.#last.has(key)
  }

  /**
   * @param signal work that waits is not begun once it is aborted
   * @throws every error of the work; the reason of the signal
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
