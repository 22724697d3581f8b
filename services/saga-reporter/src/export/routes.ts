import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Pooled } from '@switchyard/db'
import { answered, type Call, endpoint, flag, parameterProblem } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { readAllSagas } from '../read/read.js'
import type { SagaView } from '../search/store.js'
import { searchParameters, toSearch } from '../shapes/parameters.js'
import { presentSaga } from '../shapes/saga.js'

/** The first characters of formulas in spreadsheets, also in their full-width forms. */
const formulaStart = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/**
 * One line of CSV (RFC 4180). Texts come from reporters: a text that a spreadsheet would evaluate gets an
 * apostrophe in front, which it shows as text.
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

const exportFormats = ['csv', 'ndjson'] as const

interface SagaFormat {
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

const bomParameter = {
  bom: flag().default(false).meta({
    description: 'CSV begins with a byte order mark, by which Excel knows that it is UTF-8',
  }),
}

/** `GET /sagas/export`: every saga of a search, the newest first, as a file. */
export const exportSagas = (database: Pooled) =>
  endpoint({
    summary: 'Every saga of a search as a file',
    replies: { 200: ['text/csv', 'application/x-ndjson'] },
    input: z.object({ ...searchParameters, format: z.enum(exportFormats).default('csv'), ...bomParameter }),
    handle: async ({ format, bom, ...given }, _caller, call) => {
      if (bom && format !== 'csv') throw parameterProblem('bom', 'is for CSV alone')
      const batches = await readAllSagas(database, toSearch(given))
      const { head, ...written } = sagaFormats[format]
      const file = { ...written, head: bom ? `${byteOrderMark}${head}` : head }
      await send(call, file, `sagas.${format}`, textsOf(file, batches))
      return answered
    },
  })

async function* textsOf(
  { head, write }: SagaFormat,
  batches: AsyncGenerator<SagaView[], void>,
): AsyncGenerator<string> {
  if (head !== '') yield head
  for await (const sagas of batches) yield write(sagas)
}

/** Sends each text once the client has read the one before, until the client disconnects. */
async function send(call: Call, { contentType }: SagaFormat, file: string, texts: AsyncGenerator<string>) {
  const { request, response } = call.raw
  response.status(200).set({
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${file}"`,
    'Cache-Control': 'no-store',
    // A gateway that buffered the answer would have to hold all of it.
    'X-Accel-Buffering': 'no',
  })
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  try {
    await pipeline(Readable.from(texts, { objectMode: true, highWaterMark: 1 }), response)
  } catch (error) {
    // The connection is closed early, so that the client does not take a part for the whole file.
    if (!hasLeft(error)) call.logger.error({ err: error }, 'an export failed before its end')
  }
}

const hasLeft = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
