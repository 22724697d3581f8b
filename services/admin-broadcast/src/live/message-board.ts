import type { BroadcastMessage } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import {
  activeMessages,
  type BroadcastChange,
  broadcastChanges,
  turnsBetween,
} from '@switchyard/domain/broadcast'
import type { Logger } from '@switchyard/service-kit/observability'

export interface MessageBoardOptions {
  /** Reads the messages that are not over at this instant, newest first. */
  load: (now: Date) => Promise<BroadcastMessage[]>
  clock: Clock
  logger: Logger
}

/** Somebody who watches the board. Neither function may throw. */
export interface Watcher {
  /** Called once, first, with what is on. */
  state(messages: BroadcastMessage[]): void
  /** Called whenever that becomes different. */
  changes(changes: BroadcastChange<BroadcastMessage>[]): void
}

/** How long the board answers from memory while it is told of every change. */
const rememberedMs = 1000
/** How often it looks by itself while somebody watches, told of changes or not. */
const lookMs = { told: 5000, untold: 1000 }
/** How long after a turn it goes on without having been told that the instant has come. */
const patienceMs = 80
/** The most another machine's clock is believed to be ahead of this one. */
const clockSkewMsMax = 5000

/**
 * What is on now, for every reader of this process. Told of each change and of each turn (an instant at which
 * a message goes on or off) it reads the table about once a second under load; not told, it asks the table
 * every time. Those who watch hear what comes, changes and goes.
 */
export class MessageBoard {
  readonly #options: MessageBoardOptions
  readonly #watchers = new Set<Watcher>()
  #messages: BroadcastMessage[] = []
  #shown: BroadcastMessage[] = []
  #loadedAtMs = Number.NEGATIVE_INFINITY
  /** When the table was last asked, whether it answered or not. */
  #askedAtMs = Number.NEGATIVE_INFINITY
  #told = false
  /** Time never goes back, so that a message which went off does not come on again for a moment. */
  #floorMs = 0
  #loading: Promise<void> | null = null
  #queued: Promise<void> | null = null
  #failing = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: MessageBoardOptions) {
    this.#options = options
  }

  /** From now on every change is reported by `refresh` and every turn by `turn`, or no longer. */
  setTold(told: boolean): void {
    if (told === this.#told) return
    this.#told = told
    this.#loadedAtMs = Number.NEGATIVE_INFINITY
    this.#arm()
  }

  /** What is on now, newest first, and when that changes next as far as is known. */
  async active(): Promise<{ messages: BroadcastMessage[]; nextTurn: Date | undefined }> {
    if (!this.#isFresh()) await (this.#loading ?? this.refresh())
    const now = this.#now()
    return { messages: activeMessages(this.#messages, now), nextTurn: this.#nextTurn(now) }
  }

  /** Tells the watcher what is on now, and then what changes until it is taken off by the function returned. */
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

  /** Reads the table; resolves after a reading that began after this call. Readings never run side by side. */
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

  /** The instant has come, says somebody whose clock may be a little ahead of ours. */
  turn(at: Date): void {
    const believedMs = Math.min(at.getTime(), this.#options.clock().getTime() + clockSkewMsMax)
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
    this.#messages = await this.#options.load(this.#now())
    this.#loadedAtMs = askedAtMs
    this.#show()
  }

  #isFresh(): boolean {
    return this.#told && performance.now() - this.#loadedAtMs < rememberedMs
  }

  #now(): Date {
    this.#floorMs = Math.max(this.#floorMs, this.#options.clock().getTime())
    return new Date(this.#floorMs)
  }

  #nextTurn(now: Date): Date | undefined {
    return turnsBetween(this.#messages, now, new Date(8.64e15))[0]
  }

  #show(): void {
    const active = activeMessages(this.#messages, this.#now())
    const changes = broadcastChanges(this.#shown, active)
    this.#shown = active
    if (changes.length > 0) for (const watcher of this.#watchers) watcher.changes(changes)
    this.#arm()
  }

  /** Sets the alarm for the next look: shortly after the next turn, or when the table was not read for long. */
  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#watchers.size === 0) return
    const now = this.#now()
    const turnInMs = (this.#nextTurn(now)?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime() + patienceMs
    const delayMs = Math.max(1, Math.min(turnInMs, this.#nextLookInMs()))
    this.#timer = setTimeout(() => this.#look(), delayMs)
    this.#timer.unref()
  }

  /** Counted from the last time, so that whatever sets the alarm anew does not put it off. */
  #nextLookInMs(): number {
    return this.#askedAtMs + (this.#told ? lookMs.told : lookMs.untold) - performance.now()
  }

  #look(): void {
    this.#show()
    if (this.#nextLookInMs() > 0) return
    this.refresh().then(
      () => {
        this.#failing = false
      },
      (error: unknown) => {
        if (!this.#failing) this.#options.logger.warn({ err: error }, 'could not look for broadcast messages')
        this.#failing = true
      },
    )
  }
}
