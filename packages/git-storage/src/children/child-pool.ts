import { unavailable } from '@switchyard/domain'
import type { Cancellable } from '../cancellable.js'
import { processBytesDefault } from '../git-process.js'
import { type Answer, type ChildKind, GitChild, isTooHard, type Question } from './git-child.js'

export interface ChildPoolOptions {
  /** Children of all repositories together. */
  totalMax?: number
  /** Children of one kind in one repository that work at once, slow ones aside. */
  quickMax?: number
  /** The same, slow ones included. */
  perKindMax?: number
  /** A question that takes longer is slow: another child may start beside it. */
  slowAfterMs?: number
  /** An idle child ends after this time. */
  idleMs?: number
  /** A child is replaced after so many answers, before its memory grows. */
  answersMax?: number
  /** Memory of one child; packs do not count. */
  processBytesMax?: number
}

const defaults = {
  totalMax: 48,
  quickMax: 2,
  perKindMax: 8,
  slowAfterMs: 100,
  idleMs: 60_000,
  answersMax: 5_000,
  processBytesMax: processBytesDefault,
}
const answeredBytesMax = 1024 * 1024 * 1024
/** A question whose child ended before that had no part in it. */
const blamelessMs = 1_000
const waitingMax = 1_000
const sweepMs = 5_000

/** The children of one kind in one repository. */
interface Lane {
  key: string
  path: string
  kind: ChildKind
  idle: GitChild[]
  busy: Set<GitChild>
}

interface Waiting {
  lane: Lane
  take: (child: GitChild) => void
  refuse: (error: unknown) => void
}

/**
 * Long-lived git processes by repository and kind. Few of them run at a time, however many repositories
 * there are; those not used for a while end. A long answer keeps one child, not the others.
 */
export class ChildPool {
  readonly #options: typeof defaults
  readonly #lanes = new Map<string, Lane>()
  readonly #sweep: NodeJS.Timeout
  #waiting: Waiting[] = []
  #total = 0
  #closed = false
  #slowTimer: NodeJS.Timeout | undefined

  constructor(options: ChildPoolOptions = {}) {
    this.#options = { ...defaults, ...options }
    this.#sweep = setInterval(() => this.#endIdle(), sweepMs).unref()
  }

  /** How many children run. */
  get size(): number {
    return this.#total
  }

  /**
   * @param path of the bare repository
   * @throws DomainError not-found without a repository; unavailable when git failed, was too slow, or has
   *   too much to do; too-large when its memory did not do; the signal's reason when it is aborted before a child is
   *   free, or while the answer takes long
   */
  async ask(path: string, kind: ChildKind, question: Question, cancellable?: Cancellable): Promise<Answer> {
    const lane = this.#laneOf(path, kind)
    const child = this.#childAtOnce(lane) ?? (await this.#acquire(lane, cancellable?.signal))
    const isFirst = child.answers === 0
    const askedAtMs = performance.now()
    const watch = watchLater(cancellable, (reason) => child.abandon(reason))
    try {
      return await child.ask(question)
    } catch (error) {
      // A child that worked before may have been ended from outside. One that was killed over this question would be
      // again, and so would one that ran out of memory: hardly any of it is kept from one answer to the next.
      const blameless = performance.now() - askedAtMs < blamelessMs && !isTooHard(error)
      if (isFirst || !kind.readsOnly || !blameless || this.#closed || cancellable?.signal?.aborted)
        throw error
      return await this.ask(path, kind, question, cancellable)
    } finally {
      watch.end()
    }
  }

  /** Ends the children of a repository that is going to be removed. */
  closeRepository(path: string): void {
    for (const lane of [...this.#lanes.values()]) {
      if (lane.path !== path) continue
      this.#lanes.delete(lane.key)
      for (const child of [...lane.idle, ...lane.busy]) child.end()
    }
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#sweep)
    clearTimeout(this.#slowTimer)
    for (const { refuse } of this.#waiting.splice(0)) refuse(unavailable('git'))
    for (const lane of this.#lanes.values()) for (const child of [...lane.idle, ...lane.busy]) child.end()
    this.#lanes.clear()
  }

  #laneOf(path: string, kind: ChildKind): Lane {
    const key = `${kind.name} ${path}`
    const known = this.#lanes.get(key)
    if (known) return known
    const lane: Lane = { key, path, kind, idle: [], busy: new Set() }
    this.#lanes.set(key, lane)
    return lane
  }

  /** A child that nobody waits for. */
  #childAtOnce(lane: Lane): GitChild | null {
    if (this.#closed || this.#waiting.some((waiting) => waiting.lane === lane)) return null
    const child = this.#childFor(lane)
    return child && occupy(lane, child)
  }

  async #acquire(lane: Lane, signal?: AbortSignal): Promise<GitChild> {
    signal?.throwIfAborted()
    if (this.#closed || this.#waiting.length >= waitingMax) throw unavailable('git')
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        lane,
        take: (child) => {
          signal?.removeEventListener('abort', leave)
          resolve(child)
        },
        refuse: reject,
      }
      const leave = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiting)
      this.#serve()
    })
  }

  /** Gives children to those who wait, in their order, as far as the limits allow. */
  #serve(): void {
    if (this.#waiting.length === 0) return
    const full = new Set<Lane>()
    this.#waiting = this.#waiting.filter(({ lane, take }) => {
      const child = full.has(lane) ? null : this.#childFor(lane)
      if (!child) {
        full.add(lane)
        return true
      }
      take(occupy(lane, child))
      return false
    })
    if (this.#waiting.length === 0 || this.#slowTimer) return
    this.#slowTimer = setTimeout(() => {
      this.#slowTimer = undefined
      this.#serve()
    }, this.#options.slowAfterMs)
  }

  #childFor(lane: Lane): GitChild | null {
    const { quickMax, perKindMax, totalMax, slowAfterMs, processBytesMax } = this.#options
    // The one used last is the one whose memory is warm; the others may become idle enough to end.
    const idle = lane.idle.pop()
    if (idle) return idle
    if (lane.busy.size >= perKindMax) return null
    if (lane.busy.size >= quickMax) {
      const now = performance.now()
      let quick = 0
      for (const { busySinceMs } of lane.busy) if (now - (busySinceMs ?? now) < slowAfterMs) quick += 1
      if (quick >= quickMax) return null
    }
    if (this.#total >= totalMax && !this.#endLeastUsed()) return null
    this.#total += 1
    return new GitChild(lane.path, lane.kind, {
      memoryBytesMax: processBytesMax,
      onIdle: (child) => this.#returned(lane, child),
    })
  }

  /** Makes room for another repository's child. */
  #endLeastUsed(): boolean {
    let oldest: { lane: Lane; child: GitChild } | undefined
    for (const lane of this.#lanes.values()) {
      const [child] = lane.idle
      if (child && (!oldest || child.idleSinceMs < oldest.child.idleSinceMs)) oldest = { lane, child }
    }
    if (!oldest) return false
    oldest.lane.idle.shift()
    this.#dismiss(oldest.child)
    return true
  }

  readonly #dismissed = new WeakSet<GitChild>()

  #dismiss(child: GitChild): void {
    if (this.#dismissed.has(child)) return
    this.#dismissed.add(child)
    this.#total -= 1
    if (child.alive) child.end()
  }

  #returned(lane: Lane, child: GitChild): void {
    lane.busy.delete(child)
    const used = child.answers >= this.#options.answersMax || child.answeredBytes >= answeredBytesMax
    if (!child.alive || used || this.#closed || this.#lanes.get(lane.key) !== lane) {
      lane.idle = lane.idle.filter((other) => other !== child)
      this.#dismiss(child)
    } else lane.idle.push(child)
    if (!this.#closed) this.#serve()
  }

  #endIdle(): void {
    const before = performance.now() - this.#options.idleMs
    for (const lane of this.#lanes.values()) {
      const tooOld = lane.idle.filter(({ idleSinceMs }) => idleSinceMs < before)
      lane.idle = lane.idle.filter((child) => !tooOld.includes(child))
      for (const child of tooOld) this.#dismiss(child)
      if (lane.idle.length === 0 && lane.busy.size === 0) this.#dropLane(lane)
    }
  }

  #dropLane(lane: Lane): void {
    if (!this.#waiting.some((waiting) => waiting.lane === lane)) this.#lanes.delete(lane.key)
  }
}

/** Most answers are here before somebody who went away is worth looking for. */
const watchedAfterMs = 20

function watchLater(cancellable: Cancellable | undefined, onAbort: (reason: unknown) => void) {
  let signal: AbortSignal | undefined
  const abort = () => onAbort(signal?.reason)
  const timer = setTimeout(() => {
    signal = cancellable?.signal
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort)
  }, watchedAfterMs)
  return {
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}

function occupy(lane: Lane, child: GitChild): GitChild {
  lane.busy.add(child)
  child.busySinceMs = performance.now()
  return child
}
