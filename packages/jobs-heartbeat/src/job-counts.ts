/** Attempts that are over. */
export interface QueueCounts {
  /** Failed ones included. */
  processed: number
  failed: number
}

/** `returned`: given back to the queue, which counts as no attempt. */
export type Outcome = 'done' | 'failed' | 'returned'

/** Jobs under way, and attempts not yet added to the totals in Redis, by queue. */
export class JobCounts {
  busy = 0
  #byQueue = new Map<string, QueueCounts>()

  /** An attempt begins. */
  start(): void {
    this.busy += 1
  }

  /** An attempt is over. */
  end(queue: string, outcome: Outcome): void {
    this.busy -= 1
    if (outcome !== 'returned') this.#add(queue, { processed: 1, failed: outcome === 'failed' ? 1 : 0 })
  }

  /** Takes what is to be added to the totals. */
  take(): Map<string, QueueCounts> {
    const taken = this.#byQueue
    this.#byQueue = new Map()
    return taken
  }

  /** Puts back what could not be added. */
  giveBack(taken: Map<string, QueueCounts>): void {
    for (const [queue, counts] of taken) this.#add(queue, counts)
  }

  #add(queue: string, { processed, failed }: QueueCounts): void {
    const known = this.#byQueue.get(queue) ?? { processed: 0, failed: 0 }
    this.#byQueue.set(queue, {
      processed: known.processed + processed,
      failed: known.failed + failed,
    })
  }
}
