import type { Logger } from '@switchyard/service-kit/observability'
import { type RecordEvents, recordSplitting } from './record-splitting.js'
import type { WriteBatch } from './saga-ingest.js'

/** Stores batches, and says so once for each batch that the database did not take. */
export function createWriteBatch(record: RecordEvents, logger: Logger): WriteBatch {
  return (events) =>
    recordSplitting(record, events, (error) =>
      logger.error({ err: error, events: events.length }, 'events could not be stored'),
    )
}
