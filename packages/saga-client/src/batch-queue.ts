export interface BatchLimits {
  /** Most items that wait or are in a batch. */
  itemsMax: number
  /** Most batches at the same time. */
  concurrencyMax: number
  /** Longest wait of a batch that is not full for further items. */
  delayMs: number
  /** Most bytes of a batch. A larger item is sent alone. */
  batchBytesMax: number
  /** Returns the most items of a batch, at least 1. Called for each batch. */
  batchItemsMax: () => number
}

interface Chain<Item> {
  items: Item[]
  bytes: number
}

/**
 * A bounded queue that processes items in batches. The items of one key are processed in the order in which
 * they came. While a batch with items of a key is processed, no other batch has items of that key.
 */
export class BatchQueue<Item extends { bytes: number }> {
  readonly #limits: BatchLimits
  readonly #work: (batch: Item[]) => Promise<void>
  /** The waiting items of each key, including keys in a batch. */
  readonly #waiting = new Map<string, Chain<Item>>()
  /** Keys with waiting items that are in no batch, with the time since when they wait, the oldest first. */
  readonly #ready = new Map<string, number>()
  readonly #busy = new Set<string>()
  #readyItems = 0
  #readyBytes = 0
  #running = 0
  #size = 0
  #isHurried = false
  #timer: NodeJS.Timeout | undefined

  /**
   * Creates a queue.
   *
   * @param work must not reject
   */
  constructor(limits: BatchLimits, work: (batch: Item[]) => Promise<void>) {
    this.#limits = limits
    this.#work = work
  }

  /** Returns the number of items that wait or are in a batch. */
  get size(): number {
    return this.#size
  }

  /** Adds an item; false when the queue is full. */
  add(key: string, item: Item): boolean {
    if (this.#size >= this.#limits.itemsMax) return false
    this.#size += 1
    const chain = this.#waiting.get(key) ?? { items: [], bytes: 0 }
    this.#waiting.set(key, chain)
    chain.items.push(item)
    chain.bytes += item.bytes
    if (this.#busy.has(key)) return true
    if (!this.#ready.has(key)) this.#ready.set(key, performance.now())
    this.#readyItems += 1
    this.#readyBytes += item.bytes
    this.#start()
    return true
  }

  /** Sends waiting items without waiting for more, until the queue is empty. */
  hurry(): void {
    this.#isHurried = this.#size > 0
    this.#start()
  }

  #start(): void {
    while (this.#running < this.#limits.concurrencyMax && this.#ready.size > 0) {
      const waitMs = this.#waitMs()
      if (waitMs > 0) {
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined
          this.#start()
        }, waitMs)
        return
      }
      void this.#run()
    }
  }

  #waitMs(): number {
    const { batchItemsMax, batchBytesMax, delayMs } = this.#limits
    const isFull = this.#readyItems >= batchItemsMax() || this.#readyBytes >= batchBytesMax
    if (isFull || this.#isHurried) return 0
    const [sinceMs = 0] = this.#ready.values()
    return Math.ceil(sinceMs + delayMs - performance.now())
  }

  async #run(): Promise<void> {
    const { batch, keys } = this.#take()
    this.#running += 1
    await this.#work(batch)
    this.#running -= 1
    this.#size -= batch.length
    if (this.#size === 0) this.#isHurried = false
    for (const key of keys) this.#release(key)
    this.#start()
  }

  #take(): { batch: Item[]; keys: string[] } {
    const batch: Item[] = []
    const keys: string[] = []
    let room = this.#limits.batchBytesMax
    const itemsMax = this.#limits.batchItemsMax()
    for (const key of this.#ready.keys()) {
      const chain = this.#waiting.get(key) ?? { items: [], bytes: 0 }
      const before = batch.length
      for (const item of chain.items) {
        if (batch.length > 0 && (batch.length >= itemsMax || item.bytes > room)) break
        batch.push(item)
        room -= item.bytes
      }
      if (batch.length === before) break
      keys.push(key)
      this.#occupy(key, chain, batch.length - before)
    }
    return { batch, keys }
  }

  #occupy(key: string, chain: Chain<Item>, taken: number): void {
    this.#ready.delete(key)
    this.#busy.add(key)
    this.#readyItems -= chain.items.length
    this.#readyBytes -= chain.bytes
    for (const { bytes } of chain.items.splice(0, taken)) chain.bytes -= bytes
  }

  #release(key: string): void {
    this.#busy.delete(key)
    const chain = this.#waiting.get(key)
    if (!chain || chain.items.length === 0) {
      this.#waiting.delete(key)
      return
    }
    this.#ready.set(key, performance.now())
    this.#readyItems += chain.items.length
    this.#readyBytes += chain.bytes
  }
}
