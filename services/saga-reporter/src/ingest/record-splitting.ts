import { isDatabaseUnavailable, type NewSagaEvent, type RecordedSagaEvent } from '@switchyard/db'
import { DomainError, unavailable } from '@switchyard/domain'

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
