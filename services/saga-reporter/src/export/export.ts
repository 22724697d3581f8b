import type { Pooled } from '@switchyard/db'
import type { SagaView } from '../saga-view-store.js'
import { presentSaga } from '../shapes/saga.js'
import type { SagaSearch } from '../shapes/search.js'
import { walkSagas } from './store.js'

/** Matches the first characters of spreadsheet formulas, also in their full-width forms. */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/**
 * Returns one line of CSV (RFC 4180). Texts come from reporters: a text that a spreadsheet would evaluate
 * gets a leading apostrophe, which makes it plain text.
 */
export const csvLine = (cells: readonly unknown[]): string => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(value: unknown): string {
  const text = textOf(value)
  const harmless = formulaStart.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return value instanceof Date ? value.toISOString() : String(value)
}

export const exportFormats = ['csv', 'ndjson'] as const

interface SagaFormat {
  contentType: string
  /** Text before the first saga. */
  head: string
  /** Returns complete lines for some sagas. */
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

/** Returns the cells of a saga. The items of a list share one cell, separated by spaces. */
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

/** The file formats of exported sagas. */
const sagaFormats: Record<(typeof exportFormats)[number], SagaFormat> = {
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

const byteOrderMark = '\uFEFF'

interface SagaFile {
  contentType: string
  /** Complete lines, those of the newest sagas first. */
  texts: AsyncGenerator<string>
}

/**
 * Returns the file of all sagas of a search, newest first. The first sagas are read before the promise
 * resolves, so that an answer can still be a refusal when the database is unavailable.
 *
 * @param bom whether the file begins with a byte order mark
 */
export async function exportSagas(
  database: Pooled,
  search: SagaSearch,
  { format, bom }: { format: keyof typeof sagaFormats; bom: boolean },
): Promise<SagaFile> {
  const { contentType, head, write } = sagaFormats[format]
  const batches = walkSagas(database, search)
  const first = await batches.next()
  async function* texts() {
    if (head !== '') yield bom ? `${byteOrderMark}${head}` : head
    if (first.done) return
    yield write(first.value)
    for await (const sagas of batches) yield write(sagas)
  }
  return { contentType, texts: texts() }
}
