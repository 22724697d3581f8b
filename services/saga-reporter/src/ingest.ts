import { type Database, isDatabaseUnavailable, type NewSagaEvent, recordSagaEvents } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import { type EventResult, SagaRejection } from '@switchyard/domain/saga'

/** Where events are stored. */
export interface SagaIngest {
  /**
   * Resolves once PostgreSQL has committed the event.
   *
   * @throws SagaRejection when it contradicts what it refers to
   * @throws DomainError unavailable when it cannot be stored now; it may have been stored nevertheless
   */
  record(event: NewSagaEvent): Promise<EventResult>
}

/** A transaction for each event. */
export function createSagaIngest(database: Pick<Database, 'pool'>): SagaIngest {
  return {
    async record(event) {
      const [recorded] = await recordSagaEvents(database, [event]).catch((error: unknown) => {
        throw isDatabaseUnavailable(error) ? unavailable('events cannot be stored', { cause: error }) : error
      })
      if (recorded === undefined) throw new Error('an event without a result')
      if (recorded instanceof SagaRejection) throw recorded
      return recorded
    },
  }
}
