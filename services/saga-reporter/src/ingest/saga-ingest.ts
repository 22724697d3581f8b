import type { NewSagaEvent } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import { CallQueue, type QueuedCall, type QueueLimits } from './call-queue.js'
import type { EventOutcome } from './record-splitting.js'

/** Stores events, many calls in one transaction. */
export interface SagaIngest {
  /**
   * Stores the events of one call in one transaction, in their order. An event that is refused or cannot be stored does
   * not keep the other events from being stored.
   *
   * @param events at most 1,000
   * @param givenUp called right before the events are written; when it returns true, they are not written
   * @returns one outcome for each event, in their order, once PostgreSQL has committed
   * @throws DomainError unavailable when none of them was written
   */
  recordAll(events: readonly NewSagaEvent[], givenUp?: () => boolean): Promise<readonly EventOutcome[]>
  /** Accepts no more events; resolves when all accepted events are answered. */
  close(): Promise<void>
}

/** Stores a batch and returns one outcome for each event; never rejects. */
export type WriteBatch = (events: readonly NewSagaEvent[]) => Promise<EventOutcome[]>

export interface IngestOptions {
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
export function createSagaIngest({ writeBatch, transactionsMax, queue: limits }: IngestOptions): SagaIngest {
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

  function recordAll(events: readonly NewSagaEvent[], givenUp = never): Promise<readonly EventOutcome[]> {
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
    recordAll,
    async close() {
      isClosed = true
      if (transactions === 0 && queue.events === 0) return
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    },
  }
}
