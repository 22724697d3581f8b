import { setTimeout as delay } from 'node:timers/promises'
import { rateLimited } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type Call, senderAddress } from '@switchyard/service-kit/http'

/** Sessions of one sender that wait for their turn. */
const waitingMax = 100
const waitMsMax = 30_000

export interface GitSessionLimits {
  /** Most sessions that one sender may have at the same time. */
  perSenderMax: number
  /** A client that neither sends nor reads for this time is disconnected. */
  idleMs: number
  /** Plural noun for error messages. */
  what: string
}

/** Bounds the sessions of each sender, such as fetches and pushes, because all senders share the machine. */
export interface GitSessions {
  readonly idleMs: number
  /**
   * Does the work as soon as the sender has a free session.
   *
   * @param sender a user, or an address
   * @throws DomainError rate-limited when too many sessions of the sender wait, or this session waits too long; the
   *   reason of the signal when it is aborted; every error of the work
   */
  run<Result>(sender: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>
}

export function createGitSessions({ perSenderMax, idleMs, what }: GitSessionLimits): GitSessions {
  const senders = new Map<string, Turns>()
  return {
    idleMs,
    async run(sender, signal, work) {
      const turns = senders.get(sender) ?? new Turns(perSenderMax, what)
      senders.set(sender, turns)
      try {
        await turns.take(signal)
        try {
          return await work()
        } finally {
          turns.giveBack()
        }
      } finally {
        if (turns.isIdle) senders.delete(sender)
      }
    },
  }
}

/** The sessions of one sender, in order of arrival. */
class Turns {
  #running = 0
  readonly #waiting = new Set<() => void>()
  readonly #max: number
  readonly #what: string

  constructor(max: number, what: string) {
    this.#max = max
    this.#what = what
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.size === 0
  }

  async take(signal: AbortSignal): Promise<void> {
    if (this.#running >= this.#max) await this.#wait(signal)
    else this.#running += 1
  }

  /** Gives the turn to the session that has waited longest. */
  giveBack(): void {
    const [next] = this.#waiting
    if (!next) this.#running -= 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= waitingMax) throw tooMany(this.#what)
    let start = () => {}
    const turn = new Promise<void>((resolve) => {
      start = resolve
    })
    this.#waiting.add(start)
    const given = new AbortController()
    const timedOut = delay(waitMsMax, undefined, { signal: AbortSignal.any([signal, given.signal]) }).then(
      () => true,
      () => false,
    )
    await Promise.race([turn, timedOut])
    given.abort()
    // A session whose turn has come is no longer in the set.
    if (!this.#waiting.delete(start)) return
    signal.throwIfAborted()
    throw tooMany(this.#what)
  }
}

const tooMany = (what: string) =>
  rateLimited(`You have too many ${what} under way. Try again later.`, waitMsMax)

/** The sender whose fetches, pushes and downloads are counted together: a user, or an address. */
export const senderOf = (caller: Caller | null, { raw }: Call): string =>
  caller ? `user ${caller.user.id}` : `address ${senderAddress(raw.request.ip)}`
