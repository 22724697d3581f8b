import { ConnectionError, errorCodes } from './error-codes.js'

const burst = 1000
const perSecond = 33

/**
 * Counts what costs a client nothing and us something: streams that are opened only to be reset, by either side, and
 * frames without content. A client that does so all the time is sent away; a pause gives it its allowance back.
 */
export class FloodGuard {
  #left = burst
  #countedMs = 0

  /** @throws ConnectionError ENHANCE_YOUR_CALM when it is too much */
  count(nowMs: number): void {
    const earned = ((nowMs - this.#countedMs) / 1000) * perSecond
    this.#left = Math.min(burst, this.#left + earned) - 1
    this.#countedMs = nowMs
    if (this.#left < 0) throw new ConnectionError(errorCodes.enhanceYourCalm, 'too many frames without use')
  }
}
