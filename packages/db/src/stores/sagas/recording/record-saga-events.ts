import type { Database } from '../../../client.js'
import type { NewSagaEvent, RecordedSagaEvent } from './new-saga-event.js'
import { createSagaEventStore } from './saga-event-store.js'

/** {@link createSagaEventStore} for those who record now and then and remember nothing between. */
export const recordSagaEvents = (
  database: Pick<Database, 'pool'>,
  events: readonly NewSagaEvent[],
): Promise<RecordedSagaEvent[]> => createSagaEventStore(database).record(events)
