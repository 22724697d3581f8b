import { PassThrough, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DomainError } from '@switchyard/domain'
import { type GitService, serveFetch } from '@switchyard/git-storage'
import { type Call, endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { takePush } from '../../use-cases/take-push.js'
import { senderOf, sessionOf } from './session.js'

/** One exchange of a fetch, or a push. */
export const rpc = (dependencies: Dependencies, service: GitService) =>
  endpoint({
    input: z.object({}),
    async handle(_input, access: ProjectCall, call) {
      const { git, gitSessions } = dependencies
      const { request, response } = call.raw
      const body = requestBody(call.raw, service)
      const session = sessionOf(git.open(access.project).path, gitSessions.idleMs, call)
      try {
        await gitSessions.run(senderOf(access.caller, call), call.signal, async () => {
          response.set({ 'Content-Type': `application/x-${service}-result`, 'Cache-Control': 'no-cache' })
          if (service === 'git-receive-pack') {
            await takePush(dependencies, access, { session, input: body, output: response }, call)
          } else await serveFetch(session, body, response)
        })
      } finally {
        // What git left unread would stand before the next request of this connection, and clients that send all of
        // it before they read an answer would wait for ever.
        request.unpipe().resume()
        body.destroy()
      }
      response.end()
      return streamed
    },
  })

/**
 * What the client sends, unpacked: git sends longer negotiations compressed. A stream of its own, which can be closed
 * while the connection stays open for the answer.
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
  // A reader learns of an error from its own reading; an error at other times concerns nobody.
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
