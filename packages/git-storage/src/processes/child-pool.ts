import { availableParallelism } from 'node:os'
import { unavailable } from '@switchyard/domain'
import type { Slots } from '@switchyard/service-kit/slots'
import { type Answer, type ChildKind, GitChild, type Question } from './git-child.js'
import { isTooHard } from './git-process.js'
import { createQuestionSlots, type RepositoryClient, senderOf } from './git-slots.js'

export interface ChildPoolOptions {
  /** Most memory of one child in bytes; packs that are mapped into memory do not count. */
  processBytesMax: number
  /** Most children of all repositories together. */
  totalMax?: number
  /** Most children that answer at the same time. */
  busyMax?: number
  /** Most children of one kind in one repository that answer at the same time. */
  perKindMax?: number
  /** Time after which an idle child is ended. */
  idleMs?: number
  /** Most answers of a child. It is then replaced, before its memory grows. */
  answersMax?: number
}

const busyDefault = 8 * availableParallelism()
const defaults = {
  totalMax: Math.max(48, busyDefault),
  busyMax: busyDefault,
  perKindMax: 4,
  idleMs: 60_000,
  answersMax: 5_000,
}
const answeredBytesMax = 1024 * 1024 * 1024
/** Time in which the end of a child has another cause than the question it received. */
const endedSoonMs = 1_000
const sweepMs = 5_000

/** The children of one kind in one repository. */
interface Lane {
  key: string
  path: string
  kind: ChildKind
  idle: GitChild[]
  busy: Set<GitChild>
}

/**
 * A bounded pool of long-lived git processes ("children") by repository and kind. Idle children end after a
 * while. A slow question occupies its own child only: other questions get another child.
 */
export class ChildPool {
  /** The slots of answering children, with the questions that wait for one. */
  readonly slots: Slots
  readonly #options: Required<ChildPoolOptions>
  readonly #lanes = new Map<string, Lane>()
  readonly #sweep: NodeJS.Timeout
  #total = 0
  #closed = false

  constructor(options: ChildPoolOptions) {
    this.#options = { ...defaults, ...options }
    const { busyMax, totalMax, perKindMax } = this.#options
    this.slots = createQuestionSlots(Math.min(busyMax, totalMax), perKindMax)
    this.#sweep = setInterval(() => this.#endIdle(), sweepMs).unref()
  }

  /** Returns the number of running children. */
  get size(): number {
    return this.#total
  }

  /**
   * Asks a question.
   *
   * @throws DomainError not-found when the path holds no repository; unavailable when git failed, was too
   * slow, or no child was free in time; rate-limited when the sender has too many questions; too-large when
   * git ran out of its memory; the reason of the signal when the signal is aborted
   */
  async ask(client: RepositoryClient, kind: ChildKind, question: Question): Promise<Answer> {
    const claim = { sender: senderOf(client), group: laneKey(client.path, kind) }
    return this.slots.run(claim, client.signal, () => this.#ask(client, kind, question))
  }

  async #ask(client: RepositoryClient, kind: ChildKind, question: Question): Promise<Answer> {
    const { signal } = client
    const child = this.#occupy(client.path, kind)
    const isFirst = child.answers === 0
    const askedAtMs = performance.now()
    const abandon = () => child.abandon(signal?.reason)
    signal?.addEventListener('abort', abandon)
    try {
      return await child.ask(question)
    } catch (error) {
      // A child that answered before may have been killed from outside, so the question is asked again. A
      // question that ran for long or out of memory would fail again.
      const endedSoon = performance.now() - askedAtMs < endedSoonMs && !isTooHard(error)
      if (isFirst || !kind.readsOnly || !endedSoon || this.#closed || signal?.aborted) throw error
      return await this.#ask(client, kind, question)
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
    for (const lane of this.#lanes.values()) for (const child of [...lane.idle, ...lane.busy]) child.end()
    this.#lanes.clear()
  }

  #laneOf(path: string, kind: ChildKind): Lane {
    const key = laneKey(path, kind)
    const known = this.#lanes.get(key)
    if (known) return known
    const lane: Lane = { key, path, kind, idle: [], busy: new Set() }
    this.#lanes.set(key, lane)
    return lane
  }

  /**
   * Takes an idle child, or starts one. When there are too many, an idle child of another repository is
   * ended.
   */
  #occupy(path: string, kind: ChildKind): GitChild {
    if (this.#closed) throw unavailable('git does not answer')
    const { totalMax, processBytesMax } = this.#options
    const lane = this.#laneOf(path, kind)
    // The child used last has the warmest caches, and the rest can become idle for long enough to end.
    let child = lane.idle.pop()
    if (!child) {
      if (this.#total >= totalMax && !this.#endLeastUsed())
        throw unavailable('git does not answer', { retryAfterMs: 1000 })
      child = new GitChild(lane.path, lane.kind, {
        memoryBytesMax: processBytesMax,
        onIdle: (child) => this.#returned(lane, child),
      })
      this.#total += 1
    }
    lane.busy.add(child)
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
  }

  #endIdle(): void {
    const before = performance.now() - this.#options.idleMs
    for (const lane of this.#lanes.values()) {
      const tooOld = lane.idle.filter(({ idleSinceMs }) => idleSinceMs < before)
      lane.idle = lane.idle.filter((child) => !tooOld.includes(child))
      for (const child of tooOld) this.#dismiss(child)
      if (lane.idle.length === 0 && lane.busy.size === 0) this.#lanes.delete(lane.key)
    }
  }
}

const laneKey = (path: string, kind: ChildKind) => `${kind.name} ${path}`
