import { Readable as Stream } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Readable, SagaView } from '@switchyard/db'
import { type Call, endpoint, flag, parameterProblem, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { exportFormats, type SagaFormat, sagaFormats } from '../presenters/export.js'
import { walkSagas } from '../use-cases/walk-sagas.js'
import { searchParameters, toSearch } from '../wire/search-parameters.js'

const byteOrderMark = '\uFEFF'

const bomParameter = {
  bom: flag().default(false).meta({
    description: 'CSV begins with a byte order mark, by which Excel knows that it is UTF-8',
  }),
}

/** `GET /sagas/export`: every saga of a search, the newest first, as a file. */
export const exportSagas = (database: Readable) =>
  endpoint({
    summary: 'Every saga of a search as a file',
    replies: { 200: ['text/csv', 'application/x-ndjson'] },
    input: z.object({ ...searchParameters, format: z.enum(exportFormats).default('csv'), ...bomParameter }),
    handle: async ({ format, bom, ...given }, _caller, call) => {
      if (bom && format !== 'csv') throw parameterProblem('bom', 'is for CSV alone')
      const batches = walkSagas(database, toSearch(given))
      // Before the first byte is sent, the answer can still be 503 when the database is unavailable.
      const first = await batches.next()
      const { head, ...written } = sagaFormats[format]
      const file = { ...written, head: bom ? `${byteOrderMark}${head}` : head }
      await send(call, file, `sagas.${format}`, textsOf(file, first, batches))
      return streamed
    },
  })

async function* textsOf(
  { head, write }: SagaFormat,
  first: IteratorResult<SagaView[], void>,
  batches: AsyncGenerator<SagaView[], void>,
): AsyncGenerator<string> {
  if (head !== '') yield head
  if (first.done) return
  yield write(first.value)
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
    await pipeline(Stream.from(texts, { objectMode: true, highWaterMark: 1 }), response)
  } catch (error) {
    // The connection is closed early, so that the client does not take a part for the whole file.
    if (!hasLeft(error)) call.logger.error({ err: error }, 'an export failed before its end')
  }
}

const hasLeft = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
