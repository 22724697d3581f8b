import type { BroadcastMessage } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import {
  activeMessages,
  type BroadcastChange,
  boundariesBetween,
  broadcastChanges,
} from '@switchyard/domain/broadcast'
import { createOutageLog, type Logger, type OutageLog } from '@switchyard/service-kit/observability'

interface MessageBoardDependencies {
  /** Reads the messages that have not ended at this instant, newest first. */
  load: (now: Date) => Promise<BroadcastMessage[]>
  clock: Clock
  logger: Logger
}

/** An observer of the board. Neither function may throw. */
interface Watcher {
  /** Called first, once, with the active messages. */
  state(messages: BroadcastMessage[]): void
  /** Called whenever the active messages change. */
  changes(changes: BroadcastChange<BroadcastMessage>[]): void
}

/** Time for which the board answers from memory while it receives notices of changes. */
const rememberedMs = 1000
/** Intervals of reading the table for watchers: with notices; without them, or after a failure. */
const lookMs = { subscribed: 5000, polling: 1000 }
/** Delay after which the board applies a boundary by its own clock, when no notice has come. */
const patienceMs = 80
/** Largest lead of another machine's clock that is taken into account. */
const clockSkewMsMax = 5000

/**
 * The active messages, for every reader of this process. While it receives notices of each change and each
 * boundary (an instant at which a message appears or disappears), it reads the table at most about once a
 * second; otherwise it reads the table for each question. Watchers receive the changes.
 */
export class MessageBoard {
  readonly #deps: MessageBoardDependencies
  readonly #outage: OutageLog
  readonly #watchers = new Set<Watcher>()
  #messages: BroadcastMessage[] = []
  #shown: BroadcastMessage[] = []
  #loadedAtMs = Number.NEGATIVE_INFINITY
  /** Time of the last query of the table, including failed ones. */
  #askedAtMs = Number.NEGATIVE_INFINITY
  #subscribed = false
  /**
   * The latest time seen. Time never goes back, so that a message that has disappeared does not reappear for
   * a moment.
   */
  #floorMs = 0
  #loading: Promise<void> | null = null
  #queued: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(deps: MessageBoardDependencies) {
    this.#deps = deps
    this.#outage = createOutageLog(deps.logger, {
      lost: 'could not look for broadcast messages',
      back: 'broadcast messages can be read again',
    })
  }

  /**
   * @param subscribed whether, from now on, every change is reported by `refresh` and every boundary by
   *   `reachBoundary`
   */
  setSubscribed(subscribed: boolean): void {
    if (subscribed === this.#subscribed) return
    this.#subscribed = subscribed
    this.#loadedAtMs = Number.NEGATIVE_INFINITY
    this.#arm()
  }

  /** Reports that a change could not be read, so that the board reads the table as soon as it can. */
  markOutdated(): void {
    this.#loadedAtMs = Number.NEGATIVE_INFINITY
    this.#arm()
  }

  /** Returns the active messages, newest first, and the next known boundary. */
  async active(): Promise<{ messages: BroadcastMessage[]; nextBoundary: Date | undefined }> {
    if (!this.#isFresh()) await (this.#loading ?? this.refresh())
    const now = this.#now()
    return { messages: activeMessages(this.#messages, now), nextBoundary: this.#nextBoundary(now) }
  }

  /** Adds a watcher. @returns a function that removes it */
  async watch(watcher: Watcher): Promise<() => void> {
    if (!this.#isFresh()) await this.refresh()
    this.#show()
    watcher.state(this.#shown)
    this.#watchers.add(watcher)
    this.#arm()
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) clearTimeout(this.#timer)
    }
  }

  /** Reads the table. Resolves after a query that began after this call. Queries never run in parallel. */
  refresh(): Promise<void> {
    if (!this.#loading) return this.#startLoading()
    this.#queued ??= this.#loading
      .catch(() => {})
      .then(() => {
        this.#queued = null
        return this.#loading ?? this.#startLoading()
      })
    return this.#queued
  }

  /** Reports that an instant has come, by a clock that may be slightly ahead of this process's clock. */
  reachBoundary(at: Date): void {
    const believedMs = Math.min(at.getTime(), this.#deps.clock().getTime() + clockSkewMsMax)
    this.#floorMs = Math.max(this.#floorMs, believedMs)
    this.#show()
  }

  close(): void {
    this.#watchers.clear()
    clearTimeout(this.#timer)
  }

  #startLoading(): Promise<void> {
    this.#loading = this.#load().finally(() => {
      this.#loading = null
    })
    return this.#loading
  }

  async #load(): Promise<void> {
    const askedAtMs = performance.now()
    this.#askedAtMs = askedAtMs
    this.#messages = await this.#deps.load(this.#now())
    this.#loadedAtMs = askedAtMs
    this.#show()
  }

  #isFresh(): boolean {
    return this.#subscribed && performance.now() - this.#loadedAtMs < rememberedMs
  }

  #now(): Date {
    this.#floorMs = Math.max(this.#floorMs, this.#deps.clock().getTime())
    return new Date(this.#floorMs)
  }

  #nextBoundary(now: Date): Date | undefined {
    return boundariesBetween(this.#messages, now, new Date(8.64e15))[0]
  }

  #show(): void {
    const active = activeMessages(this.#messages, this.#now())
    const changes = broadcastChanges(this.#shown, active)
    this.#shown = active
    if (changes.length > 0) for (const watcher of this.#watchers) watcher.changes(changes)
    this.#arm()
  }

  /** Sets the timer for the next boundary or the next regular query, whichever comes first. */
  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#watchers.size === 0) return
    const now = this.#now()
    const boundaryInMs =
      (this.#nextBoundary(now)?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime() + patienceMs
    const delayMs = Math.max(1, Math.min(boundaryInMs, this.#nextLookInMs()))
    this.#timer = setTimeout(() => this.#look(), delayMs)
    this.#timer.unref()
  }

  /**
   * Returns the delay from the last query, so that setting the timer again does not postpone the next query.
   * While a query is running, no other follows it at once.
   */
  #nextLookInMs(): number {
    if (this.#loading !== null) return lookMs.polling
    const isKnown = this.#subscribed && this.#loadedAtMs > Number.NEGATIVE_INFINITY
    return this.#askedAtMs + (isKnown ? lookMs.subscribed : lookMs.polling) - performance.now()
  }

  #look(): void {
    this.#show()
    if (this.#nextLookInMs() > 0) return
    this.refresh().then(
      () => this.#outage.worked(),
      (error: unknown) => this.#outage.failed({ err: error }),
    )
  }
}
