import { unavailable } from '@switchyard/domain'

/** Storage of the items of many calls, with several calls in one transaction. */
export interface GroupCommit<Item, Outcome> {
  /**
   * Stores the items of one call in one transaction, in their order.
   *
   * @param givenUp called right before the items are written; when it returns true, they are not written
   * @returns one outcome for each item, in their order, once the transaction is committed
   * @throws DomainError unavailable when the queue is full, the caller has given up, or the process stops;
   * every error of `write`
   */
  commit(items: readonly Item[], givenUp?: () => boolean): Promise<readonly Outcome[]>
  /** Accepts no more items, and resolves when every accepted call is answered. */
  close(): Promise<void>
}

export interface GroupLimits {
  itemsMax: number
  /** Unset: bytes are not limited. */
  bytesMax?: number
}

export interface GroupCommitOptions<Item, Outcome> {
  /**
   * Stores a batch in one transaction.
   *
   * @returns one outcome for each item, in their order
   * @throws Error when nothing is stored; the batch is then divided in halves until each faulty call is
   * alone, so that only faulty calls fail
   */
  write: (items: readonly Item[]) => Promise<readonly Outcome[]>
  /** Returns whether an error of `write` would also fail each call alone. Unset: no error does. */
  failsEveryCall?: (error: unknown, items: readonly Item[]) => boolean
  /**
   * Returns what the items of a call are about. When a batch is halved, calls about the same thing stay
   * together, because they often fail together. Unset: they are halved in their order.
   */
  subjectOf?: (item: Item) => number
  /** Most transactions at the same time. */
  transactionsMax: number
  /**
   * Fewest waiting items that justify a further transaction. Fewer items wait for the next transaction,
   * because another one would cost more than it gains. Unset: 1.
   */
  furtherTransactionItemsMin?: number
  /** Size of the largest transaction. A single call may be larger. */
  batch: GroupLimits
  /** Most items that wait. An empty queue accepts any call. */
  queue: GroupLimits
  /** Returns the approximate memory of an item. Unset: memory is not counted. */
  bytesOf?: (item: Item) => number
  /** Message to a caller whose call does not fit the queue. */
  refusal: string
}

/** Time after which a queue that was full may accept a call. */
const retryAfterMs = 1000

/** The items of one call that wait to be written. */
interface Call<Item, Outcome> {
  items: readonly Item[]
  bytes: number
  /** Returns true once the caller no longer waits, because it went away or its deadline has passed. */
  givenUp: () => boolean
  answer: (outcomes: readonly Outcome[]) => void
  fail: (error: unknown) => void
}

const never = () => false

/**
 * Creates a group commit. Items that arrive during a transaction share the next one, so an item costs less
 * the busier the process is. Calls that arrive in the same turn of the event loop share the first
 * transaction. The queue is bounded: a call that does not fit is refused at once and may be sent again.
 */
export function createGroupCommit<Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): GroupCommit<Item, Outcome> {
  const { transactionsMax, furtherTransactionItemsMin: furtherMin = 1, bytesOf } = options
  const queue = new Queue<Item, Outcome>(options.queue)
  let transactions = 0
  let isScheduled = false
  let isClosed = false
  let onIdle: (() => void) | undefined

  /** Takes an equal share of the waiting items for each transaction that may begin now. */
  function takeBatch(): Call<Item, Outcome>[] {
    const share = Math.ceil(queue.items / (transactionsMax - transactions))
    const itemsMax = Math.min(options.batch.itemsMax, Math.max(share, furtherMin))
    return queue.take({ ...options.batch, itemsMax }).filter((call) => {
      if (!call.givenUp()) return true
      call.fail(unavailable('the call ended before it was written'))
      return false
    })
  }

  /**
   * Writes the items of calls.
   *
   * @returns a function that answers the calls
   */
  async function write(calls: readonly Call<Item, Outcome>[]): Promise<() => void> {
    const items = calls.flatMap((call) => call.items)
    try {
      const outcomes = await options.write(items)
      return () => answerEach(calls, outcomes)
    } catch (error) {
      if (calls.length === 1 || options.failsEveryCall?.(error, items)) {
        return () => {
          for (const { fail } of calls) fail(error)
        }
      }
    }
    for (const half of halvesOf(calls, options.subjectOf)) {
      const answer = await write(half)
      answer()
    }
    return () => {}
  }

  async function runTransaction(calls: readonly Call<Item, Outcome>[]): Promise<void> {
    const answer = await write(calls)
    transactions -= 1
    // The next transaction runs while these calls are answered.
    startTransactions()
    answer()
    reportIdle()
  }

  function startTransactions(): void {
    isScheduled = false
    while (transactions < transactionsMax && queue.items >= (transactions === 0 ? 1 : furtherMin)) {
      const calls = takeBatch()
      if (calls.length === 0) continue
      transactions += 1
      void runTransaction(calls)
    }
    reportIdle()
  }

  function reportIdle(): void {
    if (transactions === 0 && queue.items === 0) onIdle?.()
  }

  return {
    commit: (items, givenUp = never) =>
      new Promise((answer, fail) => {
        if (isClosed) throw unavailable('shutting down')
        const bytes = bytesOf ? items.reduce((sum, item) => sum + bytesOf(item), 0) : 0
        if (!queue.add({ items, bytes, givenUp, answer, fail }))
          throw unavailable(options.refusal, { retryAfterMs })
        if (isScheduled || transactions >= transactionsMax) return
        isScheduled = true
        setImmediate(startTransactions)
      }),
    async close() {
      isClosed = true
      if (transactions === 0 && queue.items === 0) return
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    },
  }
}

/** Divides calls in their order, but calls about the same subject follow each other. */
function halvesOf<Item, Outcome>(
  calls: readonly Call<Item, Outcome>[],
  subjectOf: ((item: Item) => number) | undefined,
): Call<Item, Outcome>[][] {
  const subjectOfCall = ({ items: [first] }: Call<Item, Outcome>) =>
    subjectOf && first !== undefined ? subjectOf(first) : 0
  const sorted = calls.toSorted((one, other) => subjectOfCall(one) - subjectOfCall(other))
  const middle = Math.ceil(sorted.length / 2)
  return [sorted.slice(0, middle), sorted.slice(middle)]
}

function answerEach<Item, Outcome>(
  calls: readonly Call<Item, Outcome>[],
  outcomes: readonly Outcome[],
): void {
  let first = 0
  for (const { items, answer } of calls) {
    answer(outcomes.slice(first, first + items.length))
    first += items.length
  }
}

/** A queue, first in first out, bounded by items and by bytes. */
class Queue<Item, Outcome> {
  readonly #itemsMax: number
  readonly #bytesMax: number
  readonly #calls: Call<Item, Outcome>[] = []
  #items = 0
  #bytes = 0

  constructor({ itemsMax, bytesMax = Number.POSITIVE_INFINITY }: GroupLimits) {
    this.#itemsMax = itemsMax
    this.#bytesMax = bytesMax
  }

  /** Returns the number of items that wait. */
  get items(): number {
    return this.#items
  }

  /**
   * Adds a call.
   *
   * @returns false when the call does not fit
   */
  add(call: Call<Item, Outcome>): boolean {
    const items = this.#items + call.items.length
    const bytes = this.#bytes + call.bytes
    if (this.#items > 0 && (items > this.#itemsMax || bytes > this.#bytesMax)) return false
    this.#items = items
    this.#bytes = bytes
    this.#calls.push(call)
    return true
  }

  /** Takes the oldest calls, each with all of its items: at least one, and no more than the limits allow. */
  take({ itemsMax, bytesMax = Number.POSITIVE_INFINITY }: GroupLimits): Call<Item, Outcome>[] {
    let items = 0
    let bytes = 0
    let count = 0
    for (const call of this.#calls) {
      const isOver = items + call.items.length > itemsMax || bytes + call.bytes > bytesMax
      if (isOver && count > 0) break
      items += call.items.length
      bytes += call.bytes
      count += 1
    }
    this.#items -= items
    this.#bytes -= bytes
    return this.#calls.splice(0, count)
  }
}
