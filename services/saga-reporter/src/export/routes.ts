import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Pooled } from '@switchyard/db'
import {
  answered,
  type Call,
  endpoint,
  flag,
  parameterProblem,
  type Route,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { searchParameters, toSearch } from '../shapes/parameters.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import { exportFormats, exportSagas } from './export.js'

export const exportRoutes = (database: Pooled): Route[] => [
  tenantRoute('GET', '/sagas/export', sagaReader, downloadSagas(database), { longLived: true }),
]

const bomParameter = {
  bom: flag().default(false).meta({
    description: 'CSV starts with a byte order mark, from which Excel detects UTF-8',
  }),
}

const downloadSagas = (database: Pooled) =>
  endpoint({
    summary: 'Export all sagas that match a filter as a file',
    replies: { 200: ['text/csv', 'application/x-ndjson'] },
    input: z.object({ ...searchParameters, format: z.enum(exportFormats).default('csv'), ...bomParameter }),
    handle: async ({ format, bom, ...given }, _caller, call) => {
      if (bom && format !== 'csv') throw parameterProblem('bom', 'is for CSV alone')
      const { contentType, texts } = await exportSagas(database, toSearch(given), { format, bom })
      await send(call, { contentType, name: `sagas.${format}` }, texts)
      return answered
    },
  })

/** Sends each text once the client has read the previous one, until the client disconnects. */
async function send(
  call: Call,
  { contentType, name }: { contentType: string; name: string },
  texts: AsyncGenerator<string>,
): Promise<void> {
  const { request, response } = call.raw
  response.status(200).set({
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${name}"`,
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
    // The connection is closed early, so that the client does not mistake a part for the whole file.
    if (!hasLeft(error)) call.logger.error({ err: error }, 'an export failed before its end')
  }
}

const hasLeft = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
