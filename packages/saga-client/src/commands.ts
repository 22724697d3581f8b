import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Metadata, type ServiceError, status } from '@grpc/grpc-js'
import {
  CommandKind,
  CommandResult,
  type LeasedCommand,
  SagaCommandsService,
} from '@switchyard/contracts/saga-commands'
import { errorText } from './error-text.js'
import { tenantMetadata } from './identified-event.js'
import { requireRange, type Settings } from './options.js'
import { isRetryable, retryDelayMs } from './retry.js'
import type { Transport } from './transport.js'

/** A command of an operator for a saga. */
export interface SagaCommand {
  /** Id of the command, equal for every delivery. It is the key by which the effect happens once. */
  id: string
  sagaId: string
  /** The step of retry and skip; otherwise empty. */
  activityId: string
  reason: string
  /** User name of the operator. */
  requestedBy: string
  /**
   * Number of the delivery: 1, or more when an operator had the command delivered again although the result
   * of an earlier delivery is unknown.
   */
  delivery: number
  /** Aborted when the lease ends. The handler should begin nothing after that. */
  signal: AbortSignal
}

/**
 * A function that executes a command. Operators see the text that it returns. Throwing a {@link
 * CommandRefused} reports that nothing was done, a {@link CommandReturned} that another process may do it.
 */
export type CommandHandler = (command: SagaCommand) => unknown

export type CommandHandlers = Partial<Record<'retry' | 'compensate' | 'skip' | 'cancel', CommandHandler>>

/** The error of a handler that has done nothing and will do nothing. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused'
}

/**
 * The error of a handler that has done nothing, because another process has the saga. That process then gets
 * the command.
 */
export class CommandReturned extends Error {
  override readonly name = 'CommandReturned'
}

export interface CommandOptions {
  /** Length of a lease, 1 to 3600. A command without an answer within this time is shown as unknown. */
  leaseSeconds?: number
  /** Most commands that are handled at the same time. */
  concurrencyMax?: number
  /** Name of this process for operators. Unset: host and process id. */
  worker?: string
  /** Called when commands cannot be requested or answered; for logs. */
  onProblem?: (error: Error) => void
}

/** A function that ends the handling of commands: it accepts no more, and waits for the running ones. */
export type StopCommands = () => Promise<void>

const defaults = { leaseSeconds: 60, concurrencyMax: 1 }
const waitSeconds = 20
/** Pauses before the next request to a reporter that does not wait, or that does not know commands. */
const pauseMs = { unwaited: 1000, unimplemented: 60_000 }
const messageCharsMax = 1000
/** Most commands whose answers are remembered. */
const answersMax = 10_000
/**
 * Time for which a returned command is not requested again. After that, this process may have got the saga.
 */
const returnedMs = 30_000
/** Most returned commands that a request names. */
const returnedMax = 1000

interface Answer {
  result: CommandResult
  message: string
}

/**
 * Leases commands for the service of a client and passes each to the handler of its kind.
 *
 * @throws TypeError without handlers, RangeError for an impossible time or number
 */
export function handleCommands(
  handlers: CommandHandlers,
  options: CommandOptions,
  client: { settings: Settings; transport: Transport; disconnecting: AbortSignal },
): StopCommands {
  if (typeof handlers !== 'object' || handlers === null) throw new TypeError('there are no handlers')
  const wanted = { ...defaults, worker: `${hostname()} ${process.pid}`, ...options }
  requireRange('leaseSeconds', wanted.leaseSeconds, 3600)
  requireRange('concurrencyMax', wanted.concurrencyMax, 100)
  const connection = connect(client, wanted)
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  const answers = new Map<string, Answer>()
  const returned = new ReturnedCommands()

  const begin = (command: LeasedCommand, endMs: number) => {
    const work = answerOf(command, endMs).then((answer) =>
      answer === null ? undefined : connection.acknowledge(command, answer),
    )
    underWay.add(work)
    void work.finally(() => underWay.delete(work))
  }

  /**
   * Runs the handler of a command and returns its answer.
   *
   * @param endMs when the lease has certainly ended, by the clock of this process
   */
  async function answerOf(command: LeasedCommand, endMs: number): Promise<Answer | null> {
    if (stopping.signal.aborted) return { result: CommandResult.COMMAND_RESULT_RETURNED, message: '' }
    const leftMs = endMs - performance.now()
    const known = answers.get(command.id) ?? returned.answerTo(command.id)
    if (known || leftMs <= 0) return known ?? null
    const answer = await run(handlers, command, AbortSignal.timeout(Math.ceil(leftMs)))
    if (answer.result === CommandResult.COMMAND_RESULT_RETURNED) {
      returned.add(command.id, answer)
      return answer
    }
    answers.set(command.id, answer)
    if (answers.size > answersMax) answers.delete(answers.keys().next().value ?? '')
    return answer
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      const free = wanted.concurrencyMax - underWay.size
      if (free <= 0) await Promise.race(underWay)
      else {
        const askedMs = performance.now()
        const leased = await connection.lease(free, returned.ids(), stopping.signal)
        // An older reporter delivers returned commands again at once.
        const isInVain = leased.every(({ id }) => returned.answerTo(id))
        for (const command of leased) begin(command, askedMs + wanted.leaseSeconds * 1000)
        if (isInVain && performance.now() - askedMs < pauseMs.unwaited)
          await pause(pauseMs.unwaited, stopping.signal)
      }
    }
    await Promise.all(underWay)
  }

  const working = work()
  return () => {
    stopping.abort()
    return working
  }
}

/** The commands that handlers have returned recently, and that other processes should get. */
class ReturnedCommands {
  readonly #answers = new Map<string, { answer: Answer; endMs: number }>()

  add(id: string, answer: Answer): void {
    this.#answers.set(id, { answer, endMs: performance.now() + returnedMs })
  }

  answerTo(id: string): Answer | undefined {
    return this.#answers.get(id)?.answer
  }

  /** Removes commands that may be requested again, and returns the ids of the latest others. */
  ids(): string[] {
    const nowMs = performance.now()
    for (const [id, { endMs }] of this.#answers) if (endMs <= nowMs) this.#answers.delete(id)
    return [...this.#answers.keys()].slice(-returnedMax)
  }
}

const pause = (milliseconds: number, signal: AbortSignal) =>
  delay(milliseconds, undefined, { signal }).catch(() => {})

const names: Partial<Record<CommandKind, keyof CommandHandlers>> = {
  [CommandKind.COMMAND_KIND_RETRY]: 'retry',
  [CommandKind.COMMAND_KIND_COMPENSATE]: 'compensate',
  [CommandKind.COMMAND_KIND_SKIP]: 'skip',
  [CommandKind.COMMAND_KIND_CANCEL]: 'cancel',
}

async function run(handlers: CommandHandlers, leased: LeasedCommand, signal: AbortSignal): Promise<Answer> {
  const name = names[leased.kind]
  const handler = name && handlers[name]
  if (typeof handler !== 'function')
    return refused(`this orchestrator does not handle ${name ?? `kind ${leased.kind}`}`)
  const { id, sagaId, activityId, reason, requestedBy, delivery } = leased
  try {
    const said = await handler({ id, sagaId, activityId, reason, requestedBy, delivery, signal })
    return { result: CommandResult.COMMAND_RESULT_SUCCEEDED, message: typeof said === 'string' ? said : '' }
  } catch (error) {
    if (error instanceof CommandRefused) return refused(error.message)
    if (error instanceof CommandReturned)
      return { result: CommandResult.COMMAND_RESULT_RETURNED, message: error.message }
    return { result: CommandResult.COMMAND_RESULT_FAILED, message: errorText(error) }
  }
}

const refused = (message: string): Answer => ({ result: CommandResult.COMMAND_RESULT_REFUSED, message })

type Wanted = typeof defaults & { worker: string } & Pick<CommandOptions, 'onProblem'>

/** Returns the calls of `SagaCommands`, each retried while that can help. */
function connect(
  { settings, transport, disconnecting }: Parameters<typeof handleCommands>[2],
  wanted: Wanted,
) {
  const delays = { firstMs: settings.retryDelayMs, lastMs: settings.retryDelayMsMax }
  const metadata = (): Metadata => tenantMetadata(settings.tenant)
  let failures = 0

  const tell = (error: unknown) => {
    try {
      wanted.onProblem?.(error as Error)
    } catch {
      // A failing listener must not end the handling of commands.
    }
  }

  return {
    /** Leases commands; none when none came, when they cannot be requested, or when the signal aborts. */
    async lease(max: number, exceptIds: string[], signal: AbortSignal): Promise<LeasedCommand[]> {
      const { leaseSeconds, worker } = wanted
      const about = { tenant: settings.tenant ?? '', serviceName: settings.serviceName, worker }
      const request = { ...about, max: Math.min(max, 100), leaseSeconds, waitSeconds, exceptIds }
      const deadlineMs = waitSeconds * 1000 + settings.deadlineMs
      try {
        const call = { deadlineMs, signal }
        const { commands } = await transport.call(
          SagaCommandsService.leaseCommands,
          request,
          metadata(),
          call,
        )
        failures = 0
        return commands
      } catch (error) {
        if (signal.aborted) return []
        tell(error)
        failures += 1
        const { code } = error as ServiceError
        const delayMs = retryDelayMs(error as ServiceError, Math.min(failures, 20), delays)
        await pause(code === status.UNIMPLEMENTED ? pauseMs.unimplemented : delayMs, signal)
        return []
      }
    },
    /** Reports the result of a command, until the reporter knows it or the time for an event is over. */
    async acknowledge({ leaseToken }: LeasedCommand, { result, message }: Answer): Promise<void> {
      const request = { leaseToken, result, message: message.slice(0, messageCharsMax) }
      const giveUpAtMs = performance.now() + settings.giveUpAfterMs
      for (let attempt = 1; ; attempt += 1) {
        try {
          await transport.call(SagaCommandsService.acknowledgeCommand, request, metadata())
          return
        } catch (error) {
          const delayMs = retryDelayMs(error as ServiceError, attempt, delays)
          const isOver = disconnecting.aborted || performance.now() + delayMs > giveUpAtMs
          if (isOver || !isRetryable(error as ServiceError)) return tell(error)
          await pause(delayMs, disconnecting)
        }
      }
    },
  }
}
