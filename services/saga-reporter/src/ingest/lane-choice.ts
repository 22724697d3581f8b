/** Milliseconds since the process began. */
export interface Usage {
  /** Passed. */
  nowMs: number
  /** In which it had something to do. */
  activeMs: number
  /** In which it had a core. */
  cpuMs: number
}

const lookMs = 1000
/** Of a look; with less to do nothing is to be told from it. */
const activeMsMin = 300
/** Time with something to do, as a multiple of time with a core: when several lanes give way to one, and when they return. */
const waiting = { much: 1.22, little: 1.12, most: 2 }

export function processUsage(): Usage {
  const { user, system } = process.cpuUsage()
  return {
    nowMs: performance.now(),
    activeMs: performance.eventLoopUtilization().active,
    cpuMs: (user + system) / 1000,
  }
}

/**
 * Says how many lanes pay. While PostgreSQL writes one batch, a process that has a core at hand prepares the next. Where
 * it has to wait for one, since replicas or PostgreSQL need them all, preparing gains nothing, and one lane, with batches
 * of twice the size, leaves more of the cores to everybody.
 */
export class LaneChoice {
  readonly #lanesMax: number
  readonly #usage: () => Usage
  #seen: Usage
  #waiting = 1
  #lanes: number

  constructor(lanesMax: number, usage: () => Usage = processUsage) {
    this.#lanesMax = lanesMax
    this.#lanes = lanesMax
    this.#usage = usage
    this.#seen = usage()
  }

  /** How many lanes may be busy now. */
  get lanes(): number {
    return this.#lanes
  }

  /** Looks again, at most once a second. */
  look(): void {
    const usage = this.#usage()
    if (usage.nowMs - this.#seen.nowMs < lookMs) return
    const activeMs = usage.activeMs - this.#seen.activeMs
    const cpuMs = usage.cpuMs - this.#seen.cpuMs
    this.#seen = usage
    if (activeMs < activeMsMin) return
    // One look may mislead, so it counts as much as all before it, and no more when the whole process was stopped.
    this.#waiting = (this.#waiting + Math.min(activeMs / cpuMs, waiting.most)) / 2
    if (this.#waiting > waiting.much) this.#lanes = 1
    else if (this.#waiting < waiting.little) this.#lanes = this.#lanesMax
  }
}
