/**
 * A bounded queue that works on the items of one key one after the other, in the order they came, and on
 * different keys at the same time.
 */
export class OrderedQueue<Item> {
  readonly #limits: { itemsMax: number; concurrencyMax: number }
  readonly #work: (item: Item) => Promise<void>
  readonly #chains = new Map<string, Item[]>()
  #ready: string[] = []
  #running = 0
  #size = 0

  /** @param work must not reject */
  constructor(limits: { itemsMax: number; concurrencyMax: number }, work: (item: Item) => Promise<void>) {
    this.#limits = limits
    this.#work = work
  }

  /** Items that wait or are worked on. */
  get size(): number {
    return this.#size
  }

  /** Takes an item; false when the queue is full. */
  add(key: string, item: Item): boolean {
    if (this.#size >= this.#limits.itemsMax) return false
    this.#size++
    const chain = this.#chains.get(key)
    if (chain) chain.push(item)
    else {
      this.#chains.set(key, [item])
      this.#ready.push(key)
      this.#start()
    }
    return true
  }

  #start(): void {
    while (this.#running < this.#limits.concurrencyMax) {
      const key = this.#ready.shift()
      if (key === undefined) return
      this.#running++
      void this.#next(key)
    }
  }

  async #next(key: string): Promise<void> {
    const chain = this.#chains.get(key) ?? []
    const [item] = chain
    if (item !== undefined) await this.#work(item)
    chain.shift()
    this.#size--
    this.#running--
    // A saga with much to say goes to the end, so that it does not stop the others.
    if (chain.length > 0) this.#ready.push(key)
    else this.#chains.delete(key)
    this.#start()
  }
}
