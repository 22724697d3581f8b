import type { Database } from '../../../client.js'
import type { NewSagaEvent, RecordedSagaEvent } from './new-saga-event.js'
import { createSagaEventStore } from './saga-event-store.js'

/** Records events once, without a store to keep. */
export const recordSagaEvents = (
  database: Pick<Database, 'pool'>,
  events: readonly NewSagaEvent[],
): Promise<RecordedSagaEvent[]> => createSagaEventStore(database).record(events)
