import { setTimeout as delay } from 'node:timers/promises'
import { rateLimited, unavailable } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type Call, senderAddress } from '@switchyard/service-kit/http'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Gauge } from 'prom-client'

/** Sessions of one sender that wait for a place. */
const waitingMax = 100
const waitMsMax = 30_000
/** A sender with fewer sessions than this may use the places that are kept free. */
const fewSessions = 2

export interface GitSessionLimits {
  /** Most sessions of all senders together. A quarter of them is kept free for senders that have at most one. */
  totalMax: number
  /** Most sessions that one sender may have at the same time. */
  perSenderMax: number
  /** A client that neither sends nor reads for this time is disconnected. */
  idleMs: number
  /** Plural noun for error messages. */
  what: string
}

/** Bounds the sessions of each sender and of all together, such as fetches and pushes, because they share the machine. */
export interface GitSessions {
  readonly idleMs: number
  /** The numbers of sessions that run, and that wait for a place. */
  count(): { running: number; waiting: number }
  /**
   * Does the work as soon as there is a place for a session of the sender.
   *
   * @param sender a user, or an address
   * @throws DomainError when 100 sessions of the sender wait already, and after a wait of 30 seconds: rate-limited when the
   *   sender has as many running sessions as are allowed, else unavailable; the reason of the signal when it is aborted; every
   *   error of the work
   */
  run<Result>(sender: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>
}

interface Sender {
  running: number
  waiting: number
}

export function createGitSessions(limits: GitSessionLimits): GitSessions {
  const places = new Places(limits)
  return {
    idleMs: limits.idleMs,
    count: () => places.count(),
    async run(name, signal, work) {
      const sender = await places.take(name, signal)
      try {
        return await work()
      } finally {
        places.giveBack(name, sender)
      }
    },
  }
}

class Places {
  readonly #limits: GitSessionLimits
  readonly #senders = new Map<string, Sender>()
  /** Sessions in the order in which they began to wait. */
  readonly #waiting = new Set<{ sender: Sender; start: () => void }>()
  #running = 0

  constructor(limits: GitSessionLimits) {
    this.#limits = limits
  }

  count() {
    return { running: this.#running, waiting: this.#waiting.size }
  }

  async take(name: string, signal: AbortSignal): Promise<Sender> {
    const sender = this.#senders.get(name) ?? { running: 0, waiting: 0 }
    this.#senders.set(name, sender)
    if (this.#hasPlaceFor(sender)) this.#begin(sender)
    else {
      try {
        await this.#wait(sender, signal)
      } finally {
        this.#forgetIdle(name, sender)
      }
    }
    return sender
  }

  giveBack(name: string, sender: Sender): void {
    this.#running -= 1
    sender.running -= 1
    this.#forgetIdle(name, sender)
    for (const waiting of this.#waiting) {
      if (this.#running >= this.#limits.totalMax) return
      if (!this.#hasPlaceFor(waiting.sender)) continue
      this.#waiting.delete(waiting)
      this.#begin(waiting.sender)
      waiting.start()
    }
  }

  #hasPlaceFor({ running }: Sender): boolean {
    const { totalMax, perSenderMax } = this.#limits
    const max = running < fewSessions ? totalMax : Math.ceil(totalMax * 0.75)
    return running < perSenderMax && this.#running < max
  }

  #begin(sender: Sender): void {
    this.#running += 1
    sender.running += 1
  }

  #forgetIdle(name: string, { running, waiting }: Sender): void {
    if (running === 0 && waiting === 0) this.#senders.delete(name)
  }

  async #wait(sender: Sender, signal: AbortSignal): Promise<void> {
    if (sender.waiting >= waitingMax) throw this.#refusal(sender)
    let start = () => {}
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    const waiting = { sender, start }
    this.#waiting.add(waiting)
    sender.waiting += 1
    const over = new AbortController()
    const timedOut = delay(waitMsMax, undefined, { signal: AbortSignal.any([signal, over.signal]) }).catch(
      () => undefined,
    )
    await Promise.race([started, timedOut])
    over.abort()
    sender.waiting -= 1
    // A session that has got its place is no longer in the set.
    if (!this.#waiting.delete(waiting)) return
    signal.throwIfAborted()
    throw this.#refusal(sender)
  }

  #refusal({ running }: Sender): Error {
    const { perSenderMax, what } = this.#limits
    return running < perSenderMax
      ? unavailable(`too many ${what} are under way`, { retryAfterMs: waitMsMax })
      : rateLimited(`You have too many ${what} under way. Try again later.`, waitMsMax)
  }
}

/** The sender whose fetches, pushes and downloads are counted together: a user, or an address. */
export const senderOf = (caller: Caller | null, { raw }: Call): string =>
  caller ? `user ${caller.user.id}` : `address ${senderAddress(raw.request.ip)}`

export function exposeGitSessions({ registry }: Metrics, sessions: GitSessions): void {
  new Gauge({
    name: 'git_api_sessions',
    help: 'Fetches, pushes, and downloads of archives and large files, by state: running, or waiting for a place.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { running, waiting } = sessions.count()
      this.set({ state: 'running' }, running)
      this.set({ state: 'waiting' }, waiting)
    },
  })
}
