import { PassThrough, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DomainError } from '@switchyard/domain'
import type { GitService } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'

/**
 * The bytes that the client sends, unpacked: git compresses long negotiations. The stream can be closed while the
 * connection stays open for the answer.
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
