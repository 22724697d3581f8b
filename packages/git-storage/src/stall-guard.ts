/**
 * Ends a session that waits for its client in vain: no byte comes or goes for a while, and it is the client's turn.
 * Time that git takes for its own work does not count.
 */
export class StallGuard {
  #movedAtMs = performance.now()
  #stalled = false
  readonly #timer: NodeJS.Timeout

  /**
   * @param idleMs how long a client may stand still
   * @param waitsForClient whether the client has to send or to take something before the session goes on
   * @param end is called once
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

  /** Bytes came or went. */
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
