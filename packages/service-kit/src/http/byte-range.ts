import { PassThrough, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DomainError } from '@switchyard/domain'
import type { ByteRange } from '@switchyard/git-storage/files'
import type { GitService } from '@switchyard/git-storage/git-http'
import type { Call } from '@switchyard/service-kit/http'

/**
 * Writes the status and the headers of an answer with all bytes, or with the part that `Range` asks for. The
 * caller has set the type of the content.
 *
 * @param etag strong, with its quotation marks
 * @returns the bytes to send; null: none
 */
export function startBytes(
  { request, response }: Call['raw'],
  { etag, size }: { etag: string; size: number },
): ByteRange | null {
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

/**
 * The bytes that the client sends, unpacked: git compresses long negotiations. The stream can be closed while
 * the connection stays open for the answer.
 */
export function requestBody({ request }: Call['raw'], service: GitService): Readable {
  const type = request.headers['content-type']
  if (type !== `application/x-${service}-request`) {
    throw new DomainError(
      'unsupported-media-type',
      `The provided content-type '${type ?? ''}' is not supported.`,
    )
  }
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (!encodings.includes(encoding))
    throw new DomainError('unsupported-media-type', 'the body could not be read')
  const body = new PassThrough()
  // A reader gets an error from its read; without a reader the error has no consequence.
  body.on('error', () => undefined)
  request.on('error', (error) => body.destroy(error))
  if (encoding === 'identity') return request.pipe(body)
  const unpacked = request.pipe(createGunzip())
  unpacked.on('error', (cause) => body.destroy(unreadable(cause)))
  body.on('close', () => unpacked.destroy())
  return unpacked.pipe(body)
}

const encodings = ['identity', 'gzip', 'x-gzip']

const unreadable = (cause: Error) =>
  new DomainError('invalid-parameters', 'the body could not be read', { cause })
