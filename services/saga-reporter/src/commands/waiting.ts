import { setTimeout as delay } from 'node:timers/promises'
import type { Readable } from '@switchyard/saga-store'
import type { Logger } from '@switchyard/service-kit/observability'
import { Slots } from '@switchyard/service-kit/slots'
import { type CommandDemand, listDemands } from './leases.js'
import { settleCommands } from './store.js'

/** How often commands are looked for that another process has stored, while somebody waits. */
const pollMs = 1000
const limits = { total: 1000, perSender: 200 }

const refusals = {
  sender: `this sender has ${limits.perSender} calls that wait for commands, which is the limit`,
  everybody: 'too many calls wait for commands',
  retryAfterMs: 5000,
}

/** The calls of this process that wait for commands. However many wait, they cost two statements a second. */
export class CommandWaiting {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #slots = new Slots(limits, refusals)
  readonly #database: Readable
  readonly #logger: Logger
  #isPolling = false
  #isClosed = false

  constructor({ database, logger }: { database: Readable; logger: Logger }) {
    this.#database = database
    this.#logger = logger
  }

  /** Whether this process stops, so that nobody should wait any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Counts a call that may wait. @returns uncounts it @throws DomainError rate-limited | unavailable */
  enter(sender: string): () => void {
    return this.#slots.takeAtOnce({ sender })
  }

  /** Resolves when there may be a command for a service, the time is over, the signal aborts, or this process stops. */
  async wait(demand: CommandDemand, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return
    const key = keyOf(demand)
    const woken = new AbortController()
    const wake = () => woken.abort()
    const waiting = this.#waiting.get(key) ?? new Set()
    this.#waiting.set(key, waiting.add(wake))
    if (!this.#isPolling) void this.#poll()
    await delay(timeoutMs, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => {})
    waiting.delete(wake)
    if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key)
  }

  /** Wakes the calls that wait for commands of these services. */
  announce(demands: readonly CommandDemand[]): void {
    for (const key of new Set(demands.map(keyOf))) for (const wake of this.#waiting.get(key) ?? []) wake()
  }

  /** Ends every wait, also those that begin later. */
  close(): void {
    this.#isClosed = true
    for (const waiting of this.#waiting.values()) for (const wake of waiting) wake()
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    while (this.#waiting.size > 0) {
      await delay(pollMs, undefined, { ref: false })
      if (this.#waiting.size === 0) break
      try {
        await settleCommands(this.#database)
        this.announce(await listDemands(this.#database))
      } catch (error) {
        this.#logger.debug({ err: error }, 'could not look for commands of sagas')
      }
    }
    this.#isPolling = false
  }
}

const keyOf = ({ tenant, serviceName }: CommandDemand): string => `${tenant}\0${serviceName}`
