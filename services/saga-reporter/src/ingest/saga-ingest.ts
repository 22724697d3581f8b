import type { NewSagaEvent, RecordedSagaEvent } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import type { EventResult } from '@switchyard/domain/saga'
import { LaneChoice } from './lane-choice.js'
import { RecordFailure } from './record-splitting.js'
import { type QueuedReport, type QueueLimits, ReportQueue } from './report-queue.js'

/** Where events are stored. */
export interface SagaIngest {
  /**
   * Resolves once PostgreSQL has committed the event.
   *
   * @param givenUp asked right before the event is written: when nobody waits for it any more, it is not
   * @throws SagaRejection when it contradicts what it refers to
   * @throws DomainError forbidden when its sender may not report about that saga
   * @throws DomainError unavailable when it cannot be stored now; it may have been stored nevertheless
   */
  record(received: NewSagaEvent, givenUp?: () => boolean): Promise<EventResult>
  /** Takes no more events; resolves when all that were taken are answered. */
  close(): Promise<void>
}

/** Stores a batch and says what became of each event; never rejects. */
export type WriteBatch = (events: readonly NewSagaEvent[]) => Promise<(RecordedSagaEvent | RecordFailure)[]>

export interface IngestOptions {
  writeBatch: WriteBatch
  /** Batches that are written at the same time, at most. */
  lanes: number
  queue: QueueLimits
}

const batchLimits: QueueLimits = { eventsMax: 500, bytesMax: 8 * 1024 * 1024 }
/** A further batch beside one under way pays for its round trip only from here on. */
const secondLaneEventsMin = 48
/** An event's objects beside its bytes. */
const eventBytes = 512

const never = () => false

/**
 * Group commit: events that arrive while a batch is being written share the next one, so that the busier it gets, the
 * less each event costs. What waits is bounded: beyond that, calls are refused at once and may be tried again.
 */
export function createSagaIngest({ writeBatch, lanes: lanesMax, queue: limits }: IngestOptions): SagaIngest {
  const queue = new ReportQueue(limits)
  const choice = new LaneChoice(lanesMax)
  let busyLanes = 0
  let scheduled = false
  let closed = false
  let onIdle: (() => void) | undefined

  /** Its share: while PostgreSQL writes one batch, this process answers and prepares another. */
  function takeBatch(): QueuedReport[] {
    const share = Math.ceil(queue.length / (choice.lanes - busyLanes + 1))
    const eventsMax = Math.min(batchLimits.eventsMax, Math.max(share, secondLaneEventsMin))
    return queue.take({ ...batchLimits, eventsMax }).filter((report) => {
      if (!report.givenUp()) return true
      report.fail(unavailable('the call ended before its event was written'))
      return false
    })
  }

  /**
   * One batch; the next is another call. A loop over all of them would get old, and whatever it holds of a batch would
   * get old with it: young collections then take four times as long, and whole ones become frequent.
   */
  async function runLane(): Promise<void> {
    busyLanes += 1
    const reports = takeBatch()
    // Also without any report the next call comes in a turn of its own, not within this one.
    const outcomes = await (reports.length > 0 ? writeBatch(reports.map(({ received }) => received)) : [])
    busyLanes -= 1
    choice.look()
    // The next batch is on its way while these are answered.
    startLanes()
    for (const [index, report] of reports.entries()) settle(report, outcomes[index])
    if (busyLanes === 0 && queue.length === 0) onIdle?.()
  }

  function startLanes(): void {
    scheduled = false
    while (busyLanes < choice.lanes && queue.length >= (busyLanes === 0 ? 1 : secondLaneEventsMin))
      void runLane()
  }

  return {
    record: (received, givenUp = never) =>
      new Promise((resolve, reject) => {
        if (closed) throw unavailable('shutting down')
        const answer = (recorded: RecordedSagaEvent) =>
          recorded instanceof Error ? reject(recorded) : resolve(recorded)
        const bytes = received.request.length + eventBytes
        if (!queue.add({ received, bytes, givenUp, answer, fail: reject }))
          throw unavailable('too many events wait')
        if (scheduled || busyLanes >= choice.lanes) return
        scheduled = true
        // Everything that this turn of the event loop reads from the sockets shares one batch.
        setImmediate(startLanes)
      }),
    async close() {
      closed = true
      if (busyLanes === 0 && queue.length === 0) return
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    },
  }
}

function settle(report: QueuedReport, outcome: RecordedSagaEvent | RecordFailure | undefined): void {
  if (outcome === undefined) report.fail(new Error('an event without a result'))
  else if (outcome instanceof RecordFailure) report.fail(outcome.error)
  else report.answer(outcome)
}
