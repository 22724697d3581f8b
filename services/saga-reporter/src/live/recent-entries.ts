import type { LogEntry, LogPage } from './store.js'

/** The newest entries of the log: all after `floor` and up to `position`. */
export class RecentEntries {
  readonly #entriesMax: number
  #entries: LogEntry[] = []
  #floor = 0
  #position = 0

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get floor(): number {
    return this.#floor
  }

  get position(): number {
    return this.#position
  }

  /** Drops all entries, and restarts after a position. */
  restart(position: number): void {
    this.#entries = []
    this.#floor = position
    this.#position = position
  }

  /** @param position the log has no entries up to it except these and the earlier ones */
  append(entries: readonly LogEntry[], position: number): void {
    this.#entries.push(...entries)
    this.#position = position
    const surplus = this.#entries.length - this.#entriesMax
    // Dropping half at a time keeps the cost for each entry constant.
    if (surplus < this.#entriesMax) return
    this.#floor = this.#entries[surplus - 1]?.sequence ?? this.#floor
    this.#entries = this.#entries.slice(surplus)
  }

  /** Returns the entries after a position that is not below the floor. */
  after(position: number, take: number): LogPage {
    const first = this.#entries.findLastIndex(({ sequence }) => sequence <= position) + 1
    const entries = this.#entries.slice(first, first + take)
    const isAll = first + take >= this.#entries.length
    return { entries, readTo: isAll ? this.#position : (entries.at(-1)?.sequence ?? position) }
  }
}
