import { setTimeout as delay } from 'node:timers/promises'
import type { Pooled } from '@switchyard/db'
import { Wakeup } from '@switchyard/service-kit/lifecycle'
import { createOutageLog, type Logger, type OutageLog } from '@switchyard/service-kit/observability'
import { Slots } from '@switchyard/service-kit/slots'
import { type CommandDemand, listPending, type PendingCommand, type WantedCommands } from './lease-store.js'
import { expireCommands } from './store.js'

/** Interval of the checks for commands that other processes have stored, while a call waits. */
const pollMs = 1000
const limits = { total: 1000, perSender: 200 }

const refusals = {
  sender: `this sender has ${limits.perSender} calls that wait for commands, which is the limit`,
  everybody: 'too many calls wait for commands',
  retryAfterMs: 5000,
}

/** The commands that a call waits for. */
type Wait = Pick<WantedCommands, 'tenant' | 'serviceName' | 'exceptIds'>

/** The calls of this process that wait for commands. Any number of them costs two statements a second. */
export class CommandWaiting {
  readonly #waiting = new Map<Wakeup, Wait>()
  readonly #slots = new Slots(limits, refusals)
  readonly #database: Pooled
  readonly #outage: OutageLog
  #isPolling = false
  #isClosed = false

  constructor({ database, logger }: { database: Pooled; logger: Logger }) {
    this.#database = database
    this.#outage = createOutageLog(logger, {
      lost: 'could not look for commands of sagas',
      back: 'commands of sagas can be read again',
    })
  }

  /** Whether this process is stopping, so that no call should wait. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /**
   * Counts a waiting call.
   *
   * @returns a function that ends the count
   * @throws DomainError rate-limited | unavailable
   */
  enter(sender: string): () => void {
    return this.#slots.takeAtOnce({ sender })
  }

  /**
   * Resolves when a wanted command may exist, on timeout, when the signal aborts, or when this process stops.
   */
  async wait(wanted: Wait, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return
    const wakeup = new Wakeup()
    this.#waiting.set(wakeup, wanted)
    if (!this.#isPolling) void this.#poll()
    await wakeup.wait(timeoutMs, signal)
    this.#waiting.delete(wakeup)
  }

  /** Wakes the calls that wait for one of these commands. */
  announce(commands: readonly PendingCommand[]): void {
    const idsOf = new Map<string, string[]>()
    for (const command of commands) {
      const ids = idsOf.get(keyOf(command)) ?? []
      idsOf.set(keyOf(command), ids)
      ids.push(command.id)
    }
    for (const [wakeup, wanted] of this.#waiting)
      if (idsOf.get(keyOf(wanted))?.some((id) => !wanted.exceptIds.has(id))) wakeup.wake()
  }

  /** Ends every current and future wait. */
  close(): void {
    this.#isClosed = true
    for (const wakeup of this.#waiting.keys()) wakeup.wake()
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    while (this.#waiting.size > 0) {
      await delay(pollMs, undefined, { ref: false })
      if (this.#waiting.size === 0) break
      try {
        await expireCommands(this.#database)
        this.announce(await listPending(this.#database, this.#services()))
        this.#outage.worked()
      } catch (error) {
        this.#outage.failed({ err: error })
      }
    }
    this.#isPolling = false
  }

  #services(): CommandDemand[] {
    return [...new Map([...this.#waiting.values()].map((wanted) => [keyOf(wanted), wanted])).values()]
  }
}

const keyOf = ({ tenant, serviceName }: CommandDemand): string => `${tenant}\0${serviceName}`
