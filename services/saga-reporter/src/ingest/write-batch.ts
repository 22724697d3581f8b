import type { Logger } from '@switchyard/service-kit/observability'
import type { IngestFigures } from './ingest-figures.js'
import { type RecordEvents, recordSplitting } from './record-splitting.js'
import type { WriteBatch } from './saga-ingest.js'

/** Stores batches, counts them, and logs each batch that the database could not store. */
export function createWriteBatch(record: RecordEvents, figures: IngestFigures, logger: Logger): WriteBatch {
  return async (events) => {
    const startedMs = performance.now()
    let stored = true
    const outcomes = await recordSplitting(record, events, (error) => {
      stored = false
      logger.error({ err: error, events: events.length }, 'events could not be stored')
    })
    figures.batch(events.length, (performance.now() - startedMs) / 1000, stored)
    return outcomes
  }
}
