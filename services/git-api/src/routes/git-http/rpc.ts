import { PassThrough, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DomainError } from '@switchyard/domain'
import type { GitService } from '@switchyard/git-storage'
import { type Call, endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import type { ServeExchange } from '../../use-cases/git-exchanges.js'
import { inSession } from './session.js'

/** One exchange of a fetch, or a push. */
export const rpc = (deps: Dependencies, service: GitService, serve: ServeExchange) =>
  endpoint({
    input: z.object({}),
    async handle(_input, access: ProjectCall, call) {
      const { request, response } = call.raw
      const input = requestBody(call.raw, service)
      try {
        await inSession(deps.gitSessions, access, call, (client) => {
          response.set({ 'Content-Type': `application/x-${service}-result`, 'Cache-Control': 'no-cache' })
          return serve(deps, access, { client, input, output: response }, call)
        })
      } finally {
        // Bytes that git left unread would stand before the next request of this connection. A client that sends all of
        // them before it reads an answer would wait for ever.
        request.unpipe().resume()
        input.destroy()
      }
      response.end()
      return streamed
    },
  })

/**
 * The bytes that the client sends, unpacked: git compresses long negotiations. The stream can be closed while the
 * connection stays open for the answer.
 */
function requestBody({ request }: Call['raw'], service: GitService): Readable {
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
