/**
 * A map that forgets what was not touched for long, by keeping two generations: at least the last `max`
 * entries, at most twice as many. Reading costs one look-up
 * of a Map; a true LRU moves an entry at each and takes several times as long.
 */
export class RecentMap<Value extends object | string> {
  readonly #max: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const older = this.#old.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: string, value: Value): void {
    this.#young.set(key, value)
    if (this.#young.size <= this.#max) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
