import type { ReportedEvent } from '@switchyard/contracts/saga-ingest'
import type { RawSagaEvent } from '@switchyard/domain/saga'
import type { ReportMetadata } from './report-metadata.js'

/** One event of one of the ten operations, as a caller reported it. */
export interface Report {
  raw: RawSagaEvent
  /** The message of the operation, in protobuf's binary format. */
  request: Uint8Array
  metadata: ReportMetadata
  /** The event as a message of a batch; undefined when it came alone. */
  message?: ReportedEvent
}
