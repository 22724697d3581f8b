import { unavailable } from '@switchyard/domain'
import type { Cancellable } from '../cancellable.js'
import { isTooHard, processBytesDefault } from '../git-process.js'
import { type Answer, type ChildKind, GitChild, type Question } from './git-child.js'

export interface ChildPoolOptions {
  /** Most children of all repositories together. */
  totalMax?: number
  /** Most busy children of one kind in one repository, not counting those with a slow question. */
  quickMax?: number
  /** Most busy children of one kind in one repository. */
  perKindMax?: number
  /** A question that takes longer than this is slow: another child may start beside it. */
  slowAfterMs?: number
  /** A child that was idle for this long is ended. */
  idleMs?: number
  /** A child is replaced after this number of answers, before its memory grows. */
  answersMax?: number
  /** Most memory of one child in bytes; packs that are mapped into memory do not count. */
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
/** A child that ends within this time after a question was ended by something else than the question. */
const endedSoonMs = 1_000
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
 * A bounded pool of long-lived git processes ("children") by repository and kind. Idle children end after a while. A slow
 * question occupies its own child only: other questions get another child.
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

  /** The number of running children. */
  get size(): number {
    return this.#total
  }

  /**
   * @param path of the bare repository
   * @throws DomainError not-found when the path holds no repository; unavailable when git failed, was too slow, or too many
   *   questions wait; too-large when git ran out of its memory; the reason of the signal when the signal is aborted
   */
  async ask(path: string, kind: ChildKind, question: Question, cancellable?: Cancellable): Promise<Answer> {
    const signal = cancellable?.signal
    signal?.throwIfAborted()
    const lane = this.#laneOf(path, kind)
    const child = this.#findFreeChild(lane) ?? (await this.#acquire(lane, signal))
    const isFirst = child.answers === 0
    const askedAtMs = performance.now()
    const abandon = () => child.abandon(signal?.reason)
    signal?.addEventListener('abort', abandon)
    try {
      return await child.ask(question)
    } catch (error) {
      // A child that answered before may have been killed from outside: the question is asked again. A question that ran
      // for long or out of memory would fail again.
      const endedSoon = performance.now() - askedAtMs < endedSoonMs && !isTooHard(error)
      if (isFirst || !kind.readsOnly || !endedSoon || this.#closed || signal?.aborted) throw error
      return await this.ask(path, kind, question, cancellable)
    } finally {
      signal?.removeEventListener('abort', abandon)
    }
  }

  /** Ends the children of a repository that is removed. */
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

  /** A child without waiting; null when other questions of the lane wait already, or no child is available. */
  #findFreeChild(lane: Lane): GitChild | null {
    if (this.#closed || this.#waiting.some((waiting) => waiting.lane === lane)) return null
    const child = this.#childFor(lane)
    return child && occupy(lane, child)
  }

  async #acquire(lane: Lane, signal?: AbortSignal): Promise<GitChild> {
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
        this.#waiting = this.#waiting.filter((queued) => queued !== waiting)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiting)
      this.#serve()
    })
  }

  /** Gives children to the waiting questions in their order, as far as the limits allow. */
  #serve(): void {
    if (this.#waiting.length === 0) return
    const full = new Set<Lane>()
    this.#waiting = this.#waiting.filter(({ lane, take, refuse }) => {
      try {
        const child = full.has(lane) ? null : this.#childFor(lane)
        if (child) take(occupy(lane, child))
        else full.add(lane)
        return child === null
      } catch (error) {
        refuse(error)
        return false
      }
    })
    if (this.#waiting.length === 0 || this.#slowTimer) return
    this.#slowTimer = setTimeout(() => {
      this.#slowTimer = undefined
      this.#serve()
    }, this.#options.slowAfterMs)
  }

  #childFor(lane: Lane): GitChild | null {
    const { quickMax, perKindMax, totalMax, slowAfterMs, processBytesMax } = this.#options
    // The child used last has the warmest caches, and the rest can become idle for long enough to end.
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
    const child = new GitChild(lane.path, lane.kind, {
      memoryBytesMax: processBytesMax,
      onIdle: (child) => this.#returned(lane, child),
    })
    this.#total += 1
    return child
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
      lane.idle = lane.idle.filter((idle) => idle !== child)
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

function occupy(lane: Lane, child: GitChild): GitChild {
  lane.busy.add(child)
  child.busySinceMs = performance.now()
  return child
}
