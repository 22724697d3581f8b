/** Jobs under way, and attempts not yet added to the totals in Redis. */
export class JobCounts {
  busy = 0
  #processed = 0
  #failed = 0

  /** An attempt begins. */
  start(): void {
    this.busy += 1
  }

  /** An attempt is over; one that was given back to the queue counts as none. */
  end(outcome: 'done' | 'failed' | 'returned'): void {
    this.busy -= 1
    if (outcome === 'returned') return
    this.#processed += 1
    if (outcome === 'failed') this.#failed += 1
  }

  /** Takes what is to be added to the totals. */
  take(): { processed: number; failed: number } {
    const taken = { processed: this.#processed, failed: this.#failed }
    this.#processed = 0
    this.#failed = 0
    return taken
  }

  /** Puts back what could not be added. */
  giveBack({ processed, failed }: { processed: number; failed: number }): void {
    this.#processed += processed
    this.#failed += failed
  }
}
