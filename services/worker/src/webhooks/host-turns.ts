import { LRUCache } from 'lru-cache'

/** Turns of hosts at once. */
export const turnsMax = 16
/** Turns that only quick hosts get, so that quick hosts never wait for slow ones. */
const reservedTurns = 4
/** Time after which a turn begins no further request. */
const turnMsMax = 30_000
/** The same while other hosts wait. */
const sharedTurnMs = 5000
/** Longest turn after which a host is quick. */
const quickMs = 1000
/** Time for which a host is not quick after a longer turn. */
const slowMs = 10 * 60_000
/** Most hosts that are remembered. */
const hostsMax = 10_000

/**
 * The turns of hosts, in which their deliveries are sent. A host is quick when its last turn was short and it
 * had no long one for some time. A host without a turn so far is not quick, because anybody can make up hosts
 * that answer slowly.
 */
export class HostTurns {
  /** Time from which a host is quick. */
  readonly #quickFromMs = new LRUCache<string, number>({ max: hostsMax })
  #taken = 0
  #takenBySlow = 0
  #refusedMs = Number.NEGATIVE_INFINITY

  constructor(private readonly clockMs: () => number = () => performance.now()) {}

  /**
   * Gives a host its turn, unless the host is not quick and all turns that are not reserved are taken.
   *
   * @param turn gets a function that returns whether another request may begin
   */
  async run(host: string, turn: (mayContinue: () => boolean) => Promise<void>): Promise<void> {
    const beganMs = this.clockMs()
    const isQuick = (this.#quickFromMs.get(host) ?? Number.POSITIVE_INFINITY) <= beganMs
    if (!isQuick && this.#takenBySlow >= turnsMax - reservedTurns) {
      this.#refusedMs = beganMs
      return
    }
    this.#taken += 1
    if (!isQuick) this.#takenBySlow += 1
    try {
      await turn(() => this.clockMs() - beganMs < this.#turnMs())
    } finally {
      this.#taken -= 1
      if (!isQuick) this.#takenBySlow -= 1
      this.#remember(host, beganMs)
    }
  }

  #turnMs(): number {
    const othersWait = this.#taken >= turnsMax || this.clockMs() - this.#refusedMs < sharedTurnMs
    return othersWait ? sharedTurnMs : turnMsMax
  }

  #remember(host: string, beganMs: number): void {
    const nowMs = this.clockMs()
    const isLong = nowMs - beganMs > quickMs
    this.#quickFromMs.set(host, isLong ? nowMs + slowMs : (this.#quickFromMs.get(host) ?? nowMs))
  }
}
