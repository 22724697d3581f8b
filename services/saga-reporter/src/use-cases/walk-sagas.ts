import { type Readable, type SagaSearch, type SagaView, walkSagas as walk } from '@switchyard/db'

/** Every saga that a search finds, the newest first, in batches that are read when they are consumed. */
export const walkSagas = (database: Readable, search: SagaSearch): AsyncGenerator<SagaView[], void> =>
  walk(database, search)
