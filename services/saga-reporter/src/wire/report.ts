import type { RawSagaEvent } from '@switchyard/domain/saga'
import type { ReportMetadata } from './report-metadata.js'

/** One event of one of the ten operations, as a caller reported it. */
export interface Report {
  raw: RawSagaEvent
  /** The message of the operation, in protobuf's binary format. */
  request: Uint8Array
  metadata: ReportMetadata
}
