/** Does the work of each key one after the other, in the order given; work of different keys runs in parallel. */
export class OneAtATime {
  /** Key → the end of the work that was given last. */
  readonly #last = new Map<string, Promise<unknown>>()

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key)
    const result = Promise.resolve(before).then(work)
    const end = result.catch(() => undefined)
    this.#last.set(key, end)
    try {
      return await result
    } finally {
      if (this.#last.get(key) === end) this.#last.delete(key)
    }
  }
}
