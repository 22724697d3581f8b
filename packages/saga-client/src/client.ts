import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServiceError } from '@grpc/grpc-js'
import { BatchQueue } from './batch-queue.js'
import { checkEvent, checkTenant } from './check-event.js'
import { type CommandHandlers, type CommandOptions, handleCommands, type StopCommands } from './commands.js'
import { type EncodedEvent, encoders, type SagaEvent } from './events.js'
import { type IdentifiedEvent, identify } from './identified-event.js'
import {
  type ReportResult,
  type SagaClientOptions,
  type Settings,
  type Stats,
  settingsOf,
} from './options.js'
import { retryDelayMs } from './retry.js'
import { messageOf } from './service-error.js'
import { createTransport, describeFailure, type Transport } from './transport.js'

type Encoders = typeof encoders
type Methods = { [Name in keyof Encoders]: (event: Parameters<Encoders[Name]>[0]) => Promise<ReportResult> }

/**
 * Reports sagas, many events in one call. Each method takes an event, returns at once, and resolves with the
 * result of the event. A caller need not wait for the result. No method rejects, unless the client was asked
 * to throw.
 */
export interface SagaClient extends Methods {
  /** Sends waiting events at once; true when the results of all events are known within the time. */
  flush: (timeoutMs?: number) => Promise<boolean>
  /**
   * Passes commands of operators for the sagas of the client's service to handlers. A kind without a handler
   * is refused.
   *
   * @returns a function that ends the subscription
   */
  onCommand: (handlers: CommandHandlers, options?: CommandOptions) => StopCommands
  /**
   * Accepts no more events and commands, waits for running commands and for events, reports the remaining
   * events as lost, and disconnects.
   */
  close: (timeoutMs?: number) => Promise<void>
  stats: () => Stats
}

/** The error of a refused or lost event, when the client was asked to throw it. */
export class SagaReportError extends Error {
  readonly result: ReportResult

  constructor(operation: string, result: Exclude<ReportResult, { outcome: 'stored' }>) {
    super(`${operation} was ${result.outcome}: ${result.reason}`)
    this.name = 'SagaReportError'
    this.result = result
  }
}

interface Pending {
  event: IdentifiedEvent
  /** Bytes of the event in a batch. */
  bytes: number
  settle: (result: ReportResult) => void
}

const closeTimeoutMsDefault = 5000

export function createSagaClient(options: SagaClientOptions): SagaClient {
  const settings = settingsOf(options)
  const transport = createTransport(settings)
  const delivery = createDelivery(settings, transport)
  const stops: StopCommands[] = []
  const disconnecting = new AbortController()
  const report = async (encode: () => EncodedEvent, operation: keyof Encoders, event: SagaEvent) => {
    const result = await delivery.take(encode, operation, event)
    if (settings.throwWhenNotStored && result.outcome !== 'stored')
      throw new SagaReportError(operation, result)
    return result
  }
  const methods = Object.fromEntries(
    Object.entries(encoders).map(([name, encode]) => [
      name,
      (event: SagaEvent) =>
        report(
          () => (encode as Encoders['sagaStarted'])(event, settings.serviceName),
          name as keyof Encoders,
          event,
        ),
    ]),
  ) as unknown as Methods
  let closed: Promise<void> | undefined
  const close = async (timeoutMs: number) => {
    if (stops.length > 0) await within(Promise.all(stops.map((stop) => stop())), timeoutMs)
    await delivery.close(timeoutMs)
    disconnecting.abort()
    transport.close()
  }
  return {
    ...methods,
    flush: delivery.flush,
    stats: delivery.stats,
    onCommand(handlers, commandOptions = {}) {
      if (closed !== undefined) throw new Error('the client is closed')
      const stop = handleCommands(handlers, commandOptions, {
        settings,
        transport,
        disconnecting: disconnecting.signal,
      })
      stops.push(stop)
      return stop
    },
    close(timeoutMs = closeTimeoutMsDefault) {
      closed ??= close(timeoutMs)
      return closed
    },
  }
}

/** Returns whether the work was done within the time. */
async function within(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const done = work.then(() => true)
  if (timeoutMs === Number.POSITIVE_INFINITY) return done
  const timer = new AbortController()
  const late = delay(timeoutMs, false, { signal: timer.signal }).catch(() => false)
  return Promise.race([done, late]).finally(() => timer.abort())
}

/** Queues events, sends them in batches, and counts their results. */
function createDelivery(settings: Settings, transport: Transport) {
  const stopping = new AbortController()
  // Every batch that waits for its next attempt listens to the signal.
  setMaxListeners(0, stopping.signal)
  const counts = { stored: 0, refused: 0, lost: 0, repeated: 0 }
  const undecided = new Set<Promise<unknown>>()
  const sequences = new Map<string, number>()
  let isClosed = false

  const queue = new BatchQueue<Pending>(
    {
      itemsMax: settings.queueMax,
      concurrencyMax: settings.concurrencyMax,
      delayMs: settings.batchDelayMs,
      batchBytesMax: settings.batchBytesMax,
      batchItemsMax: transport.eventsMax,
    },
    (batch) => deliver(batch, settings, transport, stopping.signal, (events) => (counts.repeated += events)),
  )

  const accept = (encode: () => EncodedEvent, operation: keyof Encoders, event: SagaEvent) => {
    if (isClosed) return lost('the client is closed')
    if (queue.size >= settings.queueMax) return lost('the queue is full')
    try {
      checkEvent(operation, event)
      checkTenant(settings.tenant)
      const encoded = encode()
      const sequence = nextSequence(sequences, event.sagaId)
      const identified = identify(encoded, event, { sequence, tenant: settings.tenant })
      const { bytes } = identified
      return new Promise<ReportResult>((settle) =>
        queue.add(event.sagaId, { event: identified, bytes, settle }),
      )
    } catch (error) {
      return { outcome: 'refused', reason: `the event cannot be written: ${messageOf(error)}` } as const
    }
  }

  const decide = (operation: string, event: SagaEvent, result: ReportResult) => {
    counts[result.outcome]++
    if (result.outcome !== 'stored')
      void tell(settings.onNotStored, { operation, sagaId: sagaIdOf(event) }, result)
    return result
  }

  const flush = async (timeoutMs = Number.POSITIVE_INFINITY) => {
    queue.hurry()
    return within(Promise.all(undecided), timeoutMs)
  }

  return {
    take(encode: () => EncodedEvent, operation: keyof Encoders, event: SagaEvent): Promise<ReportResult> {
      const decided = Promise.resolve(accept(encode, operation, event)).then((result) =>
        decide(operation, event, result),
      )
      undecided.add(decided)
      void decided.then(() => undecided.delete(decided))
      return decided
    },
    flush,
    async close(timeoutMs: number): Promise<void> {
      isClosed = true
      await flush(timeoutMs)
      stopping.abort()
      await flush()
    },
    stats: (): Stats => ({ pending: queue.size, ...counts }),
  }
}

/** Sends a batch repeatedly until each of its events has a result or is given up, or the client closes. */
async function deliver(
  batch: readonly Pending[],
  settings: Settings,
  transport: Transport,
  stopped: AbortSignal,
  onRepeat: (events: number) => void,
): Promise<void> {
  const delays = { firstMs: settings.retryDelayMs, lastMs: settings.retryDelayMsMax }
  let left = batch
  let attempt = 1
  let giveUpAtMs = performance.now() + settings.giveUpAfterMs
  while (!stopped.aborted) {
    const before = left.length
    const verdicts = await transport.send(left.map(({ event }) => event))
    let failure: ServiceError | undefined
    left = left.filter(({ settle }, index) => {
      const verdict = verdicts[index] ?? lost('the event was not sent')
      if (verdict instanceof Error) failure = verdict
      else settle(verdict)
      return verdict instanceof Error
    })
    if (failure === undefined) return
    if (left.length < before) {
      attempt = 1
      giveUpAtMs = performance.now() + settings.giveUpAfterMs
    }
    const delayMs = retryDelayMs(failure, attempt, delays)
    if (performance.now() + delayMs > giveUpAtMs) {
      for (const { settle } of left) settle(lost(`given up: ${describeFailure(failure)}`))
      return
    }
    await delay(delayMs, undefined, { signal: stopped }).catch(() => {})
    attempt += 1
    if (!stopped.aborted) onRepeat(left.length)
  }
  for (const { settle } of left) settle(lost('the client was closed'))
}

/** Most sagas whose last sequence number is remembered. The numbers of a forgotten saga begin at 1 again. */
const sequencesMax = 100_000

function nextSequence(sequences: Map<string, number>, sagaId: string): number {
  const sequence = (sequences.get(sagaId) ?? 0) + 1
  sequences.delete(sagaId)
  sequences.set(sagaId, sequence)
  if (sequences.size > sequencesMax) sequences.delete(sequences.keys().next().value ?? sagaId)
  return sequence
}

/** Returns the id in an event of a caller without a type checker, which may be anything. */
function sagaIdOf(event: unknown): string {
  const sagaId: unknown = typeof event === 'object' && event !== null ? Reflect.get(event, 'sagaId') : ''
  return typeof sagaId === 'string' ? sagaId : ''
}

async function tell(
  onNotStored: SagaClientOptions['onNotStored'],
  ...told: Parameters<NonNullable<typeof onNotStored>>
) {
  try {
    await onNotStored?.(...told)
  } catch {
    // A failing listener must not fail the caller of the client.
  }
}

const lost = (reason: string) => ({ outcome: 'lost', reason }) as const
