import type { ByteRange } from '@switchyard/git-storage'
import { type Call, endpoint, streamed, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { baseName } from '../../presenters/base-name.js'
import { presentFileHeaders } from '../../presenters/file.js'
import { openRawFile, type RawFile } from '../../use-cases/files.js'
import { optionalText } from '../../wire/parameters.js'

const types = ['text/plain', 'application/octet-stream']

/**
 * `GET /projects/:id/repository/files/:file_path/raw`: the bytes, or the part of them that `Range` asks for. A text is
 * `text/plain` whatever it means, so that no browser runs it.
 */
export const getRawFile = (deps: Dependencies) =>
  endpoint({
    summary: 'The bytes of a file',
    replies: { 200: types, 206: types, 416: null },
    refusals: [429],
    input: z.object({ file_path: text(), ref: optionalText(text()) }),
    async handle({ file_path, ref }, access: ProjectCall, call) {
      const raw = await openRawFile(deps, access, { path: file_path, revision: ref ?? 'HEAD' }, call)
      const range = startAnswer(raw, call)
      if (range) await raw.write(call.raw.response, range)
      call.raw.response.end()
      return streamed
    },
  })

/** Writes status and headers. @returns the bytes to send; null: none */
function startAnswer({ file, isText }: RawFile, { raw: { request, response } }: Call): ByteRange | null {
  const { id, size } = file.blob
  response.set({
    ...presentFileHeaders(file),
    ETag: `"${id}"`,
    'Accept-Ranges': 'bytes',
    'X-Content-Type-Options': 'nosniff',
  })
  // Every fetch client sends `no-cache` along with If-None-Match, and express would then never answer 304.
  delete request.headers['cache-control']
  if (request.fresh) {
    response.status(304)
    return null
  }
  if (!isText) response.attachment(baseName(file.path))
  response.type(isText ? 'text/plain; charset=utf-8' : 'application/octet-stream')
  const ifRange = request.get('If-Range')
  const isKnown = ifRange === undefined || ifRange === `"${id}"`
  const ranges = isKnown ? request.range(size) : undefined
  if (ranges === -1) {
    response.status(416).set('Content-Range', `bytes */${size}`)
    return null
  }
  const isOne = typeof ranges === 'object' && ranges.type === 'bytes' && ranges.length === 1
  const { start, end } = (isOne && ranges[0]) || { start: 0, end: size - 1 }
  if (isOne) response.status(206).set('Content-Range', `bytes ${start}-${end}/${size}`)
  response.set('Content-Length', String(end - start + 1))
  return request.method === 'HEAD' ? null : { start, end }
}
