import { PassThrough, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DomainError } from '@switchyard/domain'
import type { GitService } from '@switchyard/git-storage'
import { type Call, endpoint, type Route, route, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { type GitSessions, senderOf } from '../../git-sessions.js'
import type { ProjectCall } from '../../guards.js'
import {
  advertiseReferences,
  type Exchange,
  type ServeExchange,
  serveFetch,
  takePush,
} from '../../use-cases/git-exchanges.js'
import { createGitGuards } from './git-guards.js'

/** git's smart HTTP protocol: clone, fetch, push. The path of the project may end in `.git`. */
export function gitHttpRoutes(deps: Dependencies): Route[] {
  const { fetchOrPush, fetch, push } = createGitGuards(deps)
  const repository = '/:namespace/:project'
  const options = { outsideApi: true, basicAuthentication: true, streamsBody: true, longLived: true }
  return [
    route('GET', `${repository}/info/refs`, fetchOrPush, infoRefs(deps), options),
    route('POST', `${repository}/git-upload-pack`, fetch, rpc(deps, 'git-upload-pack', serveFetch), options),
    route('POST', `${repository}/git-receive-pack`, push, rpc(deps, 'git-receive-pack', takePush), options),
  ]
}

const services = ['git-upload-pack', 'git-receive-pack'] as const satisfies GitService[]

/** The first request of every clone, fetch and push. */
const infoRefs = ({ gitSessions }: Dependencies) =>
  endpoint({
    input: z.object({ service: z.enum(services) }),
    async handle({ service }, access: ProjectCall, call) {
      const { response } = call.raw
      await inSession(gitSessions, access, call, (client) => {
        response.set({
          'Content-Type': `application/x-${service}-advertisement`,
          'Cache-Control': 'no-cache',
        })
        return advertiseReferences(access, { client, output: response }, service)
      })
      return streamed
    },
  })

/** One exchange of a fetch, or a push. */
const rpc = (deps: Dependencies, service: GitService, serve: ServeExchange) =>
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

/** Does the work when it is the sender's turn; the fetches and pushes of a user, or of an address, are counted together. */
function inSession(
  sessions: GitSessions,
  { caller }: ProjectCall,
  call: Call,
  work: (client: Exchange['client']) => Promise<void>,
): Promise<void> {
  const { raw, signal } = call
  const client = { protocol: raw.request.get('Git-Protocol'), idleMs: sessions.idleMs, signal }
  return sessions.run(senderOf(caller, call), signal, () => work(client))
}

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
