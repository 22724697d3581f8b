import { rateLimited, unavailable } from '@switchyard/domain'
import { Gauge, type Registry } from 'prom-client'

export interface SlotLimits {
  /** Number of all slots. */
  total: number
  /** Most slots of one sender. A single claim may be larger when its sender holds none. */
  perSender: number
  /** Most slots of a group, of all its senders together. Unset: without limit. */
  perGroup?: number
  /**
   * The part of all slots, and of those of a group, that is reserved for senders that hold few: 0.25 is a
   * quarter. Unset: none.
   */
  reservedShare?: number
  /** Most slots that a sender may hold, including its claim, to get a reserved slot. Unset: 1. */
  reservedHeldMax?: number
  /** Longest wait of a claim; Infinity: until its signal is aborted. Unset: a claim does not wait. */
  waitMs?: number
  /** Most claims that wait. Unset: without limit. */
  waitingMax?: number
  /** Most claims of one sender that wait. Unset: without limit. */
  waitingPerSenderMax?: number
}

/** The messages of refused claims. */
export interface SlotRefusals {
  /** For a sender that holds its share: 429. */
  sender: string
  /** For a group that holds its share: 429. Unset: as for everybody. */
  group?: string
  /** When no sender can get a slot: 503. */
  everybody: string
  /** Time until another attempt may succeed. */
  retryAfterMs: number
}

export interface Claim {
  /** The sender of the claim: a user, a token or an address. */
  sender: string
  /** The object of the work, such as a repository. */
  group?: string
  /** Number of slots. Unset: 1. */
  size?: number
}

interface Waiting {
  claim: Claim
  start: () => void
}

type Obstacle = 'sender' | 'group' | 'total'

/**
 * Slots: the units of a limited capacity, such as processes, bytes of memory or open streams. While nobody
 * else waits, a sender may hold its whole share. When several wait, each free slot goes to the sender that
 * holds the fewest. Among senders that hold the same number, it goes to the sender that was served least
 * recently.
 */
export class Slots {
  readonly #limits: Required<SlotLimits>
  readonly #refusals: SlotRefusals
  readonly #ofSender = new Tally()
  readonly #ofGroup = new Tally()
  readonly #ofSenderInGroup = new Tally()
  /** Waiting claims by sender, the sender that was served least recently first. */
  readonly #waiting = new Map<string, Set<Waiting>>()
  #held = 0
  #waitingCount = 0

  constructor(limits: SlotLimits, refusals: SlotRefusals) {
    const unlimited = Number.POSITIVE_INFINITY
    const defaults = { perGroup: unlimited, reservedShare: 0, reservedHeldMax: 1, waitMs: 0 }
    this.#limits = { ...defaults, waitingMax: unlimited, waitingPerSenderMax: unlimited, ...limits }
    this.#refusals = refusals
  }

  /** Returns the numbers of held slots and of waiting claims. */
  count(): { held: number; waiting: number } {
    return { held: this.#held, waiting: this.#waitingCount }
  }

  /**
   * Does the work when there is a slot for it.
   *
   * @throws DomainError like {@link take}; every error of the work
   */
  async run<Result>(
    claim: Claim,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const giveBack = await this.take(claim, signal)
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  /**
   * Waits for slots.
   *
   * @returns a function that gives them back
   * @throws DomainError rate-limited when the sender holds its share for too long, unavailable when nobody
   * could get a slot; the reason of the signal when it is aborted
   */
  async take(claim: Claim, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const giveBack = this.tryTake(claim)
    if (giveBack) return giveBack
    await this.#wait(claim, signal)
    return this.#giverOf(claim)
  }

  /**
   * Takes free slots while no claim waits.
   *
   * @returns a function that gives them back; null when there are none
   */
  tryTake(claim: Claim): (() => void) | null {
    if (this.#waitingCount > 0 || this.#obstacle(claim)) return null
    this.#add(claim, 1)
    return this.#giverOf(claim)
  }

  /**
   * Takes slots without waiting.
   *
   * @throws DomainError like {@link take}
   */
  takeAtOnce(claim: Claim): () => void {
    if (this.#obstacle(claim)) throw this.#refusal(claim)
    this.#add(claim, 1)
    return this.#giverOf(claim)
  }

  #giverOf(claim: Claim): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#add(claim, -1)
      this.#serve()
    }
  }

  /** Returns the reason why a claim cannot get its slots now; null: it can. */
  #obstacle({ sender, group, size = 1 }: Claim): Obstacle | null {
    const { total, perSender, perGroup } = this.#limits
    const held = this.#ofSender.of(sender)
    if (held > 0 && held + size > perSender) return 'sender'
    if (group !== undefined) {
      const heldInGroup = this.#ofSenderInGroup.of(inGroup(sender, group))
      if (!this.#fits(size, { max: perGroup, taken: this.#ofGroup.of(group), held: heldInGroup }))
        return 'group'
    }
    return this.#fits(size, { max: total, taken: this.#held, held }) ? null : 'total'
  }

  #fits(size: number, { max, taken, held }: { max: number; taken: number; held: number }): boolean {
    const { reservedShare, reservedHeldMax } = this.#limits
    const isReserving = reservedShare > 0 && held + size > reservedHeldMax
    const reserve = isReserving ? Math.ceil(max * reservedShare) : 0
    return taken === 0 || taken + size <= max - reserve
  }

  #add({ sender, group, size = 1 }: Claim, sign: 1 | -1): void {
    this.#held += sign * size
    this.#ofSender.add(sender, sign * size)
    if (group === undefined) return
    this.#ofGroup.add(group, sign * size)
    this.#ofSenderInGroup.add(inGroup(sender, group), sign * size)
  }

  async #wait(claim: Claim, signal: AbortSignal | undefined): Promise<void> {
    const { waitMs, waitingMax, waitingPerSenderMax } = this.#limits
    const ofSender = this.#waiting.get(claim.sender)?.size ?? 0
    if (waitMs === 0 || this.#waitingCount >= waitingMax || ofSender >= waitingPerSenderMax)
      throw this.#refusal(claim)
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        this.#forget(waiting)
        settle()
      }
      // A claim may wait only because this one is too large for the free slots.
      const leave = (error: unknown) => {
        end(() => reject(error))
        this.#serve()
      }
      const onAbort = () => leave(signal?.reason)
      const waiting = {
        claim,
        start: () =>
          end(() => {
            this.#add(claim, 1)
            resolve()
          }),
      }
      const giveUp = () => leave(this.#refusal(claim))
      const timer = Number.isFinite(waitMs) ? setTimeout(giveUp, waitMs) : undefined
      signal?.addEventListener('abort', onAbort)
      this.#remember(waiting)
      this.#serve()
    })
  }

  #remember(waiting: Waiting): void {
    const { sender } = waiting.claim
    const ofSender = this.#waiting.get(sender) ?? new Set()
    this.#waiting.set(sender, ofSender.add(waiting))
    this.#waitingCount += 1
  }

  #forget(waiting: Waiting): void {
    const { sender } = waiting.claim
    const ofSender = this.#waiting.get(sender)
    if (!ofSender?.delete(waiting)) return
    this.#waitingCount -= 1
    if (ofSender.size === 0) this.#waiting.delete(sender)
  }

  #serve(): void {
    while (this.#held < this.#limits.total) {
      const next = this.#next()
      if (!next) return
      const { sender } = next.claim
      next.start()
      const others = this.#waiting.get(sender)
      if (!others) continue
      this.#waiting.delete(sender)
      this.#waiting.set(sender, others)
    }
  }

  /** Returns the claim that is served next; null when no claim can be served now. */
  #next(): Waiting | null {
    let isOneTooLarge = false
    for (const [sender, claims] of this.#sendersInOrder()) {
      // A claim that needs more than is free would wait for ever if senders with more slots went first.
      if (isOneTooLarge && this.#ofSender.of(sender) > 0) return null
      for (const waiting of claims) {
        const obstacle = this.#obstacle(waiting.claim)
        if (obstacle === null) return waiting
        if (obstacle === 'total') isOneTooLarge = true
        if (obstacle !== 'group') break
      }
    }
    return null
  }

  /**
   * Yields the waiting senders: first the sender that holds the fewest slots, and among equals the one that
   * was served least recently.
   */
  *#sendersInOrder(): Generator<[string, Set<Waiting>]> {
    const held = (sender: string) => this.#ofSender.of(sender)
    // In most cases the first sender is served. Thousands may wait, so sorting them for each slot would take
    // too long. Only senders that hold a slot are passed over, and there are no more of them than slots.
    let first: [string, Set<Waiting>] | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const entry of this.#waiting) {
      const count = held(entry[0])
      if (count >= fewest) continue
      first = entry
      fewest = count
      if (count === 0) break
    }
    if (!first) return
    yield first
    const [firstSender] = first
    const others = [...this.#waiting].filter(([sender]) => sender !== firstSender)
    yield* others.sort(([one], [other]) => held(one) - held(other))
  }

  #refusal(claim: Claim): Error {
    const { sender, group, everybody, retryAfterMs } = this.#refusals
    const obstacle = this.#obstacle(claim)
    if (obstacle === 'sender') return rateLimited(sender, retryAfterMs)
    if (obstacle === 'group') {
      if (group !== undefined) return rateLimited(group, retryAfterMs)
      const isOwn = this.#ofSenderInGroup.of(inGroup(claim.sender, claim.group ?? '')) > 0
      if (isOwn) return rateLimited(sender, retryAfterMs)
    }
    return unavailable(everybody, { retryAfterMs })
  }
}

const inGroup = (sender: string, group: string): string => `${group}\0${sender}`

/** Sums by key. A key with the sum 0 takes no memory. */
class Tally {
  readonly #sums = new Map<string, number>()

  of(key: string): number {
    return this.#sums.get(key) ?? 0
  }

  add(key: string, change: number): void {
    const sum = this.of(key) + change
    if (sum === 0) this.#sums.delete(key)
    else this.#sums.set(key, sum)
  }
}

/** Exposes the numbers of held slots and of waiting claims, as a gauge with the labels `work` and `state`. */
export function exposeSlots(
  registry: Registry,
  { name, help }: { name: string; help: string },
  slotsByWork: Record<string, Slots>,
): void {
  new Gauge({
    name,
    help,
    labelNames: ['work', 'state'],
    registers: [registry],
    collect() {
      for (const [work, slots] of Object.entries(slotsByWork)) {
        const { held, waiting } = slots.count()
        this.set({ work, state: 'held' }, held)
        this.set({ work, state: 'waiting' }, waiting)
      }
    },
  })
}
