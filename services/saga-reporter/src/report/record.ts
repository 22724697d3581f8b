import { isDatabaseUnavailable } from '@switchyard/db'
import { DomainError, unavailable } from '@switchyard/domain'
import type { NewSagaEvent, RecordedSagaEvent } from '@switchyard/saga-store'
import type { Logger } from '@switchyard/service-kit/observability'
import type { ReportMetrics } from './metrics.js'

/** Stores events, many calls in one transaction. */
export interface Recorder {
  /**
   * Stores the events of one call in one transaction, in their order. An event that is refused or cannot be stored does
   * not keep the other events from being stored.
   *
   * @param events at most 1,000
   * @param givenUp called right before the events are written; when it returns true, they are not written
   * @returns one outcome for each event, in their order, once PostgreSQL has committed
   * @throws DomainError unavailable when none of them was written
   */
  record(events: readonly NewSagaEvent[], givenUp?: () => boolean): Promise<readonly EventOutcome[]>
  /** Accepts no more events; resolves when all accepted events are answered. */
  close(): Promise<void>
}

/** Stores a batch and returns one outcome for each event; never rejects. */
export type WriteBatch = (events: readonly NewSagaEvent[]) => Promise<EventOutcome[]>

export interface RecorderOptions {
  writeBatch: WriteBatch
  /** Transactions that are under way at the same time, at most. */
  transactionsMax: number
  queue: QueueLimits
}

const batchLimits: QueueLimits = { eventsMax: 1000, bytesMax: 8 * 1024 * 1024 }
/** With fewer waiting events, a further transaction costs more than it gains; they wait for the next transaction. */
const furtherTransactionEventsMin = 48
/** The memory that the objects of an event take, beside its bytes. */
const eventBytes = 512

const never = () => false

/**
 * Group commit: events that arrive while a transaction is under way share the next one, so the busier the process gets,
 * the less each event costs. The queue is bounded: calls that do not fit are refused at once and may be sent again.
 */
export function createRecorder({ writeBatch, transactionsMax, queue: limits }: RecorderOptions): Recorder {
  const queue = new CallQueue(limits)
  let transactions = 0
  let isScheduled = false
  let isClosed = false
  let onIdle: (() => void) | undefined

  /** An equal share of the waiting events for each transaction that may begin now. */
  function takeBatch(): QueuedCall[] {
    const share = Math.ceil(queue.events / (transactionsMax - transactions))
    const eventsMax = Math.min(batchLimits.eventsMax, Math.max(share, furtherTransactionEventsMin))
    return queue.take({ ...batchLimits, eventsMax }).filter((call) => {
      if (!call.givenUp()) return true
      call.fail(unavailable('the call ended before its event was written'))
      return false
    })
  }

  async function runTransaction(calls: readonly QueuedCall[]): Promise<void> {
    const outcomes = await writeBatch(calls.flatMap(({ events }) => events))
    transactions -= 1
    // The next transaction is under way while these calls are answered.
    startTransactions()
    let first = 0
    for (const { events, answer } of calls) {
      answer(outcomes.slice(first, first + events.length))
      first += events.length
    }
    reportIdle()
  }

  function startTransactions(): void {
    isScheduled = false
    while (
      transactions < transactionsMax &&
      queue.events >= (transactions === 0 ? 1 : furtherTransactionEventsMin)
    ) {
      const calls = takeBatch()
      if (calls.length === 0) continue
      transactions += 1
      void runTransaction(calls)
    }
    reportIdle()
  }

  function reportIdle(): void {
    if (transactions === 0 && queue.events === 0) onIdle?.()
  }

  function record(events: readonly NewSagaEvent[], givenUp = never): Promise<readonly EventOutcome[]> {
    return new Promise((answer, fail) => {
      if (isClosed) throw unavailable('shutting down')
      const bytes = events.reduce((sum, { request }) => sum + request.length + eventBytes, 0)
      if (!queue.add({ events, bytes, givenUp, answer, fail })) throw unavailable('too many events wait')
      if (isScheduled || transactions >= transactionsMax) return
      isScheduled = true
      // All calls that this turn of the event loop reads from the sockets share one transaction.
      setImmediate(startTransactions)
    })
  }

  return {
    record,
    async close() {
      isClosed = true
      if (transactions === 0 && queue.events === 0) return
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    },
  }
}

/** The events of one call that wait to be written. */
export interface QueuedCall {
  events: readonly NewSagaEvent[]
  /** Approximate memory of the events. */
  bytes: number
  /** True once the caller no longer waits: the call was cancelled, or its deadline has passed. */
  givenUp: () => boolean
  /** Answers the call with one outcome for each event, in their order. */
  answer: (outcomes: readonly EventOutcome[]) => void
  fail: (error: unknown) => void
}

export interface QueueLimits {
  eventsMax: number
  bytesMax: number
}

/** First in, first out, bounded by events and by bytes. */
export class CallQueue {
  readonly #limits: QueueLimits
  readonly #calls: QueuedCall[] = []
  #events = 0
  #bytes = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  /** The number of events that wait. */
  get events(): number {
    return this.#events
  }

  /** @returns false when the call does not fit; an empty queue takes any call */
  add(call: QueuedCall): boolean {
    const events = this.#events + call.events.length
    const bytes = this.#bytes + call.bytes
    const fits = events <= this.#limits.eventsMax && bytes <= this.#limits.bytesMax
    if (!fits && this.#events > 0) return false
    this.#events = events
    this.#bytes = bytes
    this.#calls.push(call)
    return true
  }

  /** Takes the oldest calls, each with all of its events: at least one, and no more than the limits allow. */
  take({ eventsMax, bytesMax }: QueueLimits): QueuedCall[] {
    let events = 0
    let bytes = 0
    let count = 0
    for (const call of this.#calls) {
      const isOver = events + call.events.length > eventsMax || bytes + call.bytes > bytesMax
      if (isOver && count > 0) break
      events += call.events.length
      bytes += call.bytes
      count += 1
    }
    this.#events -= events
    this.#bytes -= bytes
    return this.#calls.splice(0, count)
  }
}

/** Stores events in one transaction: all of them or none. */
export type RecordEvents = (events: readonly NewSagaEvent[]) => Promise<RecordedSagaEvent[]>

/** An event that could not be stored, and why. */
export class RecordFailure {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/** The result of an event that was stored or refused, or why it could not be stored. */
export type EventOutcome = RecordedSagaEvent | RecordFailure

/**
 * Stores a batch. A batch that fails is halved until the event that makes it fail is alone, so that the other events
 * are stored. A database that cannot work now fails the whole batch at once.
 *
 * @param onUnavailable called once with the cause, because callers only learn that they may try again
 */
export async function recordSplitting(
  record: RecordEvents,
  events: readonly NewSagaEvent[],
  onUnavailable: (error: unknown) => void,
): Promise<EventOutcome[]> {
  try {
    return await record(events)
  } catch (error) {
    if (isDatabaseUnavailable(error)) {
      onUnavailable(error)
      return failAll(events, unavailable('events cannot be stored'))
    }
    if (events.length === 1 || error instanceof DomainError) return failAll(events, error)
  }
  const middle = Math.ceil(events.length / 2)
  const first = await recordSplitting(record, events.slice(0, middle), onUnavailable)
  const last = first.at(-1)
  // The second half is not stored either, so that the order is kept when both are sent again.
  if (last instanceof RecordFailure && isUnavailable(last.error))
    return [...first, ...failAll(events.slice(middle), last.error)]
  const second = await recordSplitting(record, events.slice(middle), onUnavailable)
  return [...first, ...second]
}

const isUnavailable = (error: unknown): boolean =>
  error instanceof DomainError && error.kind === 'unavailable'

function failAll(events: readonly NewSagaEvent[], error: unknown): RecordFailure[] {
  const failure = new RecordFailure(error)
  return events.map(() => failure)
}

/** Stores batches, counts them, and logs each batch that the database could not store. */
export function createWriteBatch(record: RecordEvents, metrics: ReportMetrics, logger: Logger): WriteBatch {
  return async (events) => {
    const startedMs = performance.now()
    let stored = true
    const outcomes = await recordSplitting(record, events, (error) => {
      stored = false
      logger.error({ err: error, events: events.length }, 'events could not be stored')
    })
    metrics.batch(events.length, (performance.now() - startedMs) / 1000, stored)
    return outcomes
  }
}
