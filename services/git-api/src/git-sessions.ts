import { setTimeout as delay } from 'node:timers/promises'
import { rateLimited } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { Call } from '@switchyard/service-kit/http'

/** Fetches and pushes of one sender that wait for their turn. */
const waitingMax = 100
const waitMsMax = 30_000

export interface GitSessionLimits {
  /** Fetches and pushes of one sender at once. */
  perSenderMax: number
  /** Time after which a client that neither sends nor takes anything is given up. */
  idleMs: number
}

/** Fetches and pushes, each of which holds a process of git: bounded for each sender, so that every other one gets in. */
export interface GitSessions {
  readonly idleMs: number
  /**
   * Does the work when the sender has less than the most sessions.
   *
   * @param sender a user, or an address
   * @throws DomainError rate-limited when too many sessions of the sender wait, or one waits for too long; the reason of
   *   the signal when it is aborted meanwhile; what the work throws
   */
  run<Result>(sender: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>
}

export function createGitSessions({ perSenderMax, idleMs }: GitSessionLimits): GitSessions {
  const senders = new Map<string, Turns>()
  return {
    idleMs,
    async run(sender, signal, work) {
      const turns = senders.get(sender) ?? new Turns(perSenderMax)
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

/** The sessions of one sender, in the order in which they came. */
class Turns {
  #running = 0
  readonly #waiting = new Set<() => void>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.size === 0
  }

  async take(signal: AbortSignal): Promise<void> {
    if (this.#running >= this.#max) await this.#wait(signal)
    else this.#running += 1
  }

  /** Hands the turn on to the session that has waited longest. */
  giveBack(): void {
    const [next] = this.#waiting
    if (!next) this.#running -= 1
    else {
      this.#waiting.delete(next)
      next()
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= waitingMax) throw tooMany()
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
    // It is no longer among the waiting ones when its turn has come.
    if (!this.#waiting.delete(start)) return
    signal.throwIfAborted()
    throw tooMany()
  }
}

const tooMany = () =>
  rateLimited('You have too many fetches and pushes under way. Try again later.', waitMsMax)

/** The sender whose fetches, pushes and downloads are counted together: a user, or an address. */
export const senderOf = (caller: Caller | null, { raw }: Call): string =>
  caller ? `user ${caller.user.id}` : `address ${raw.request.ip}`
