import type { Call } from './endpoint.js'

/**
 * Writes the status and the headers of an answer with all bytes, or with the part that `Range` asks for. The
 * caller has set the content type.
 *
 * @param etag strong, with its quotation marks
 * @returns the first and the last byte to send; null: none
 */
export function startBytes(
  { request, response }: Call['raw'],
  { etag, size }: { etag: string; size: number },
): { start: number; end: number } | null {
  response.set({ ETag: etag, 'Accept-Ranges': 'bytes' })
  if (request.fresh) {
    response.status(304)
    for (const name of ['Content-Type', 'Content-Disposition']) response.removeHeader(name)
    return null
  }
  const ifRange = request.get('If-Range')
  const isKnown = ifRange === undefined || ifRange === etag
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
