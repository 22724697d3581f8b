import type { ByteRange } from '@switchyard/git-storage'
import { type Call, streamed } from '@switchyard/service-kit/http'
import type { RawContent } from '../../use-cases/files.js'

/** Media types of raw content. A text is `text/plain` whatever it means, so that no browser runs it. */
export const rawTypes = ['text/plain', 'application/octet-stream']

/**
 * Answers with the bytes of a blob, or the part of them that `Range` asks for.
 *
 * @param fileName name of the download
 */
export async function sendRaw(
  content: RawContent,
  { fileName, headers = {} }: { fileName: string; headers?: Record<string, string> },
  call: Call,
): Promise<typeof streamed> {
  const { response } = call.raw
  response.set(headers)
  const range = startAnswer(content, fileName, call)
  if (range) await content.write(response, range)
  response.end()
  return streamed
}

/** Writes status and headers. @returns the bytes to send; null: none */
function startAnswer(
  { blob, isText }: RawContent,
  fileName: string,
  { raw: { request, response } }: Call,
): ByteRange | null {
  const { id, size } = blob
  response.set({ ETag: `"${id}"`, 'Accept-Ranges': 'bytes', 'X-Content-Type-Options': 'nosniff' })
  // Every fetch client sends `no-cache` along with If-None-Match, and express would then never answer 304.
  delete request.headers['cache-control']
  if (request.fresh) {
    response.status(304)
    return null
  }
  if (!isText) response.attachment(fileName)
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
