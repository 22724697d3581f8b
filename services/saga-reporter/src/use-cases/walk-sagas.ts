import { type Readable, type SagaSearch, type SagaView, walkSagas as walk } from '@switchyard/db'

/** Every saga that a search finds, the newest first, some at a time and only as fast as they are taken. */
export const walkSagas = (database: Readable, search: SagaSearch): AsyncGenerator<SagaView[], void> =>
  walk(database, search)
