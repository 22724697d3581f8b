/**
 * Lets `perSecond` events through a second, and up to `burst` at once after a pause. Each call passes the
 * time, in milliseconds that never go back.
 */
export class TokenBucket {
  readonly #perMs: number
  readonly #burst: number
  #tokens: number
  #atMs: number

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1000
    this.#burst = burst
    this.#tokens = burst
    this.#atMs = nowMs
  }

  /** Takes a token. Returns 0 when there was one, else the milliseconds until there is one. */
  take(nowMs: number): number {
    if (nowMs > this.#atMs) {
      this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#atMs) * this.#perMs)
      this.#atMs = nowMs
    }
    if (this.#tokens >= 1) {
      this.#tokens -= 1
      return 0
    }
    return (1 - this.#tokens) / this.#perMs
  }
}
