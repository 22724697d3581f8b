/** Numbers of finished attempts. */
export interface QueueCounts {
  /** All attempts, including failed ones. */
  processed: number
  failed: number
}

/** `returned`: the job went back to the queue, which does not count as an attempt. */
export type Outcome = 'done' | 'failed' | 'returned'

/** The number of running jobs, and by queue the attempts that are not added to the totals in Redis yet. */
export class JobCounts {
  busy = 0
  #byQueue = new Map<string, QueueCounts>()

  start(): void {
    this.busy += 1
  }

  end(queue: string, outcome: Outcome): void {
    this.busy -= 1
    if (outcome !== 'returned') this.#add(queue, { processed: 1, failed: outcome === 'failed' ? 1 : 0 })
  }

  /** Returns the counts to add to the totals, and resets them. */
  take(): Map<string, QueueCounts> {
    const taken = this.#byQueue
    this.#byQueue = new Map()
    return taken
  }

  /** Adds counts again that could not be sent. */
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
