import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Pooled } from '@switchyard/db'
import {
  answered,
  type Call,
  createStreamSlots,
  endpoint,
  flag,
  parameterProblem,
  type Route,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { searchParameters, toSearch } from '../shapes/parameters.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import { exportFormats, exportSagas } from './export.js'

export interface ExportDependencies {
  database: Pooled
  /** Longest time for which a client may read nothing. */
  stallMsMax: number
}

/**
 * Most exports at the same time. Each holds some thousand sagas in memory, and takes turns with the other
 * readers of the few connections to the database.
 */
const exportsMax = { max: 20, perSenderMax: 2 }

export const exportRoutes = (deps: ExportDependencies): Route[] => [
  tenantRoute('GET', '/sagas/export', sagaReader, downloadSagas(deps), { longLived: true }),
]

const bomParameter = {
  bom: flag().default(false).meta({
    description: 'CSV starts with a byte order mark, from which Excel detects UTF-8',
  }),
}

function downloadSagas({ database, stallMsMax }: ExportDependencies) {
  const slots = createStreamSlots(exportsMax)
  return endpoint({
    summary: 'Export all sagas that match a filter as a file',
    replies: { 200: ['text/csv', 'application/x-ndjson'] },
    input: z.object({ ...searchParameters, format: z.enum(exportFormats).default('csv'), ...bomParameter }),
    handle: async ({ format, bom, ...given }, _caller, call) => {
      if (bom && format !== 'csv') throw parameterProblem('bom', 'is for CSV alone')
      slots.take(call)
      const { contentType, texts } = await exportSagas(database, toSearch(given), { format, bom })
      await send(call, { contentType, name: `sagas.${format}`, stallMsMax }, texts)
      return answered
    },
  })
}

/**
 * Sends each text once the client has read the previous one, until the client disconnects. A client that
 * reads nothing for `stallMsMax` is disconnected.
 */
async function send(
  call: Call,
  { contentType, name, stallMsMax }: { contentType: string; name: string; stallMsMax: number },
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
  response.setTimeout(stallMsMax, () => {
    // Nothing moves either while the database reads the next sagas.
    if (response.writableLength > 0) response.destroy()
  })
  try {
    await pipeline(Readable.from(texts, { objectMode: true, highWaterMark: 1 }), response)
  } catch (error) {
    // The connection is closed early, so that the client does not mistake a part for the whole file.
    if (!hasLeft(error)) call.logger.error({ err: error }, 'an export failed before its end')
  }
}

const hasLeft = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
