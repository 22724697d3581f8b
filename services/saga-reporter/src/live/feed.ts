import { setTimeout as delay } from 'node:timers/promises'
import { Wakeup } from '@switchyard/service-kit/lifecycle'
import { createOutageLog, type Logger, type OutageLog } from '@switchyard/service-kit/observability'
import { RecentEntries } from './recent-entries.js'
import type { LogEntry, LogPage } from './store.js'

/** The queries of the feed. */
export interface FeedSource {
  /**
   * Reads visible entries after a position, in their order; entries received before `receivedSince` may be
   * left out.
   */
  readTail(wanted: { after: number; receivedSince: Date | null; take: number }): Promise<LogEntry[]>
  /** Reads the last assigned position, whether or not its entry is visible. */
  readLastPosition(): Promise<number>
  /** Lists current transactions that may have taken positions. */
  readWriters(): Promise<Set<string>>
  /** Returns whether one of these transactions is still active. */
  isAnyActive(writers: ReadonlySet<string>): Promise<boolean>
}

const entriesKept = 10_000
const entriesAtOnce = 1000
/** Polling interval without notices of new entries. */
const pollMs = 1000
/** Pause between two reads, so that a busy log is read in larger pieces. */
const restMs = 20
const gapPollMsMax = 500
/** A read after a notice finds entries that are at most this much older than the newest entry. */
const overlapMs = 60 * 60 * 1000

/**
 * The end of the log as it grows. It is read once for all followers in this process, and only while there are
 * followers. Every entry is delivered once, in the order of the positions. Entries can become visible in
 * another order: entries behind a gap are held back until the transactions that may fill the gap have ended.
 */
export class SagaFeed {
  readonly #source: FeedSource
  readonly #outage: OutageLog
  readonly #recent = new RecentEntries(entriesKept)
  readonly #waiting = new Set<Wakeup>()
  readonly #pause = new Wakeup()
  #followers = 0
  #starting: Promise<void> | null = null
  /** No entry up to this position becomes visible any more: a missing one stays missing. */
  #completeTo = 0
  /** Once these transactions have ended, missing positions up to `upTo` stay missing. */
  #gap: { upTo: number; writers: Set<string> } | null = null
  #newestReceivedMs = Number.NEGATIVE_INFINITY

  constructor(source: FeedSource, logger: Logger) {
    this.#source = source
    this.#outage = createOutageLog(logger, {
      lost: 'the log of sagas cannot be read',
      back: 'the log of sagas can be read again',
    })
  }

  /** The position up to which every entry has been delivered. */
  get position(): number {
    return this.#recent.position
  }

  /** The position after which entries are in memory; earlier entries have to be read from the log. */
  get floor(): number {
    return this.#recent.floor
  }

  /**
   * Adds a follower. Resolves once `position` is known, with a function that removes the follower.
   *
   * @throws when the database does not answer
   */
  async join(): Promise<() => void> {
    this.#followers += 1
    const leave = () => {
      this.#followers -= 1
      if (this.#followers === 0) this.#pause.wake()
    }
    try {
      this.#starting ??= this.#start()
      await this.#starting
    } catch (error) {
      leave()
      throw error
    }
    return leave
  }

  /** Returns the entries after a position between `floor` and `position`. */
  after(position: number, take: number): LogPage {
    return this.#recent.after(position, take)
  }

  /** Resolves when `position` has moved, on timeout, or when the signal aborts. */
  async changed(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const wakeup = new Wakeup()
    this.#waiting.add(wakeup)
    await wakeup.wait(timeoutMs, signal)
    this.#waiting.delete(wakeup)
  }

  /** Call it when the log has new entries. */
  wake(): void {
    this.#pause.wake()
  }

  async #start(): Promise<void> {
    try {
      const last = await this.#source.readLastPosition()
      const writers = await this.#source.readWriters()
      while (await this.#source.isAnyActive(writers)) await delay(restMs)
      this.#recent.restart(last)
      this.#completeTo = last
      this.#gap = null
    } catch (error) {
      this.#starting = null
      throw error
    }
    void this.#run()
  }

  async #run(): Promise<void> {
    let searchAllDays = false
    let readsAtGap = 0
    while (this.#followers > 0) {
      const isAtEnd = await this.#readSafely(searchAllDays)
      searchAllDays = false
      if (!isAtEnd) continue
      readsAtGap = this.#gap ? readsAtGap + 1 : 0
      await delay(restMs)
      const pauseMs = this.#gap ? Math.min(restMs * readsAtGap, gapPollMsMax) : pollMs
      searchAllDays = !(await this.#pause.wait(pauseMs))
    }
    this.#starting = null
  }

  async #readSafely(allDays: boolean): Promise<boolean> {
    try {
      const isAtEnd = await this.#read(allDays)
      this.#outage.worked()
      return isAtEnd
    } catch (error) {
      // Followers stay connected and receive the entries later.
      this.#outage.failed({ err: error })
      await delay(pollMs)
      return true
    }
  }

  /** @returns whether every entry that can be delivered was delivered */
  async #read(allDays: boolean): Promise<boolean> {
    if (this.#gap && !(await this.#source.isAnyActive(this.#gap.writers))) {
      this.#completeTo = this.#gap.upTo
      this.#gap = null
    }
    const after = this.#recent.position
    // Before a gap is skipped, all days are searched, because the clock of the writer of an entry may have
    // been wrong.
    const receivedSince = allDays || this.#completeTo > after ? null : this.#overlapStart()
    const entries = await this.#source.readTail({ after, receivedSince, take: entriesAtOnce })
    const isAll = entries.length < entriesAtOnce
    const { ready, position } = deliverablePrefix(entries, { after, completeTo: this.#completeTo, isAll })
    this.#deliver(ready, position)
    const last = entries.at(-1)
    if (ready.length === entries.length || !last) return isAll
    if (this.#gap) return true
    this.#gap = { upTo: last.sequence, writers: await this.#source.readWriters() }
    return this.#gap.writers.size > 0
  }

  #deliver(entries: readonly LogEntry[], position: number): void {
    if (position === this.#recent.position) return
    this.#recent.append(entries, position)
    const newest = entries.at(-1)?.receivedAt.getTime() ?? Number.NEGATIVE_INFINITY
    this.#newestReceivedMs = Math.max(this.#newestReceivedMs, Math.min(newest, Date.now()))
    for (const wakeup of this.#waiting) wakeup.wake()
  }

  #overlapStart(): Date | null {
    return Number.isFinite(this.#newestReceivedMs) ? new Date(this.#newestReceivedMs - overlapMs) : null
  }
}

/**
 * Returns the entries that can be delivered, and the position after them. An entry behind a gap waits,
 * because the missing entry may belong to an uncommitted transaction, and followers never read backwards.
 *
 * @param entries visible entries after `after`, in their order
 * @param completeTo no further entry up to this position becomes visible
 * @param isAll whether these are all visible entries
 */
export function deliverablePrefix(
  entries: readonly LogEntry[],
  { after, completeTo, isAll }: { after: number; completeTo: number; isAll: boolean },
): { ready: readonly LogEntry[]; position: number } {
  let position = after
  let count = 0
  for (const { sequence } of entries) {
    if (sequence !== position + 1 && sequence - 1 > completeTo) break
    position = sequence
    count += 1
  }
  const ready = entries.slice(0, count)
  // The remaining entries are behind a gap, thus after `completeTo`.
  const mayPass = isAll || count < entries.length
  return { ready, position: mayPass ? Math.max(position, completeTo) : position }
}
