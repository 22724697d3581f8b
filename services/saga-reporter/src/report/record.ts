import { isDatabaseUnavailable } from '@switchyard/db'
import { DomainError, isRefusal, unavailable } from '@switchyard/domain'
import type { NewSagaEvent, RecordedSagaEvent } from '@switchyard/saga-store'
import { createGroupCommit } from '@switchyard/service-kit/group-commit'
import type { Logger } from '@switchyard/service-kit/observability'
import { isUnavailable } from '../limited-database.js'
import type { ReportMetrics } from './metrics.js'

/** The recorder of events, which stores many calls in one transaction. */
export interface Recorder {
  /**
   * Stores the events of one call in one transaction, in order. An event that is refused or cannot be stored
   * does not affect the other events.
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

/**
 * A function that stores a batch and returns one outcome for each event. It never rejects, so the group
 * commit divides no batch.
 */
export type WriteBatch = (events: readonly NewSagaEvent[]) => Promise<EventOutcome[]>

export interface RecorderOptions {
  writeBatch: WriteBatch
  /** Most concurrent transactions. */
  transactionsMax: number
  /** Most waiting events and bytes. */
  queue: { eventsMax: number; bytesMax: number }
}

/** Memory of an event's objects, beside its bytes. */
const eventBytes = 512

/**
 * Stores events by group commit. Calls that do not fit the queue are refused at once and may be sent again.
 */
export function createRecorder({ writeBatch, transactionsMax, queue }: RecorderOptions): Recorder {
  const { commit, close } = createGroupCommit<NewSagaEvent, EventOutcome>({
    write: writeBatch,
    transactionsMax,
    furtherTransactionItemsMin: 48,
    batch: { itemsMax: 1000, bytesMax: 8 * 1024 * 1024 },
    queue: { itemsMax: queue.eventsMax, bytesMax: queue.bytesMax },
    bytesOf: ({ request }) => request.length + eventBytes,
    refusal: 'too many events wait',
  })
  return { record: commit, close }
}

/** A function that stores events atomically in one transaction. */
export type RecordEvents = (events: readonly NewSagaEvent[]) => Promise<RecordedSagaEvent[]>

/** The failure to store an event. */
export class RecordFailure {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/** The result of an event that was stored or refused, or the failure to store it. */
export type EventOutcome = RecordedSagaEvent | RecordFailure

/**
 * Stores a batch. A batch that fails is halved until the failing event is alone, so that the other events are
 * stored. The group commit divides a batch only between calls; here, one event of a call may fail alone, and
 * the order of all events is kept. When the database is unavailable, the whole batch fails at once.
 *
 * @param onUnavailable called once with the cause, because callers only learn that they may retry
 */
async function recordSplitting(
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
    if (isUnavailable(error) && events.length === 1)
      return failAll(events, unavailable('events cannot be stored', { cause: error }))
    if (events.length === 1 || error instanceof DomainError) return failAll(events, error)
  }
  const middle = Math.ceil(events.length / 2)
  const first = await recordSplitting(record, events.slice(0, middle), onUnavailable)
  const last = first.at(-1)
  // The second half is not stored either, so that the order is preserved when both are sent again.
  if (last instanceof RecordFailure && isRefusal(last.error, 'unavailable'))
    return [...first, ...failAll(events.slice(middle), last.error)]
  const second = await recordSplitting(record, events.slice(middle), onUnavailable)
  return [...first, ...second]
}

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
