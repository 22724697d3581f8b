import type { SagaView } from '@switchyard/db'
import { csvLine } from './csv.js'
import { presentSaga } from './saga.js'

export const exportFormats = ['csv', 'ndjson'] as const

export interface SagaFormat {
  contentType: string
  /** Text before the first saga. */
  head: string
  /** The text of some sagas, complete lines. */
  write: (sagas: SagaView[]) => string
}

const csvColumns = [
  'saga_id',
  'tenant',
  'service_name',
  'status',
  'outcome',
  'late',
  'flags',
  'tags',
  'add_time',
  'started_at',
  'ended_at',
  'expires_at',
  'resolved_at',
  'first_seen_at',
  'last_event_at',
  'duration_ms',
] as const

/** The items of a list share one cell, separated by spaces. */
function csvCells(saga: SagaView): unknown[] {
  const presented = {
    ...presentSaga(saga),
    flags: flagNames(saga),
    tags: saga.tags.join(' '),
    resolved_at: saga.resolvedAt,
  }
  return csvColumns.map((column) => presented[column])
}

const flagNames = ({ flags }: SagaView) => [...new Set(flags.map(({ kind }) => kind))].join(' ')

/** How sagas are written to a file. */
export const sagaFormats: Record<(typeof exportFormats)[number], SagaFormat> = {
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: csvLine(csvColumns),
    write: (sagas) => sagas.map((saga) => csvLine(csvCells(saga))).join(''),
  },
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    head: '',
    write: (sagas) => sagas.map((saga) => `${JSON.stringify(presentSaga(saga))}\n`).join(''),
  },
}
