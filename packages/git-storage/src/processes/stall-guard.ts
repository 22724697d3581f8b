/**
 * A guard that ends a session whose client stalls: it is the client's turn, and no byte was sent or received
 * for some time. The time in which git works does not count.
 */
export class StallGuard {
  #movedAtMs = performance.now()
  #stalled = false
  readonly #timer: NodeJS.Timeout

  /**
   * Starts the guard.
   *
   * @param idleMs longest time without a byte
   * @param waitsForClient whether the session waits for the client to send or read data
   * @param end called once, when the client stalls
   */
  constructor(idleMs: number, waitsForClient: () => boolean, end: () => void) {
    this.#timer = setInterval(
      () => {
        if (!waitsForClient()) this.moved()
        else if (performance.now() - this.#movedAtMs >= idleMs && !this.#stalled) {
          this.#stalled = true
          end()
        }
      },
      Math.ceil(idleMs / 4),
    )
  }

  /** Records that bytes were sent or received. */
  moved(): void {
    this.#movedAtMs = performance.now()
  }

  get stalled(): boolean {
    return this.#stalled
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
