import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { listProtectedBranches } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import { type GitService, type GitSession, serveRpc } from '@switchyard/git-storage'
import { type Call, endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { adoptDefaultBranch } from '../../use-cases/adopt-default-branch.js'
import { referencesChanged } from '../../use-cases/references-changed.js'
import { watchPush } from './watch-push.js'

/** One exchange of a fetch, or a push. */
export const rpc = (dependencies: Dependencies, service: GitService) =>
  endpoint({
    input: z.object({}),
    async handle(_input, access: ProjectCall, call) {
      const { raw, signal } = call
      const body = requestBody(raw, service)
      const session = {
        path: dependencies.git.open(access.project).path,
        service,
        protocol: raw.request.get('Git-Protocol'),
        signal,
      }
      raw.response.set({ 'Content-Type': `application/x-${service}-result`, 'Cache-Control': 'no-cache' })
      try {
        if (service === 'git-receive-pack') await push(dependencies, access, session, body, call)
        else await serveRpc(session, body, raw.response)
      } finally {
        // What git left unread would stand before the next request of this connection, and clients that send all of
        // it before they read an answer would wait for ever.
        raw.request.unpipe().resume()
        body.destroy()
      }
      raw.response.end()
      return streamed
    },
  })

async function push(
  dependencies: Dependencies,
  { project, level, caller }: ProjectCall,
  session: GitSession,
  input: Readable,
  { raw, logger, baseUrl }: Call,
): Promise<void> {
  const { database, git } = dependencies
  const rights = { level, protections: await listProtectedBranches(database, project.id) }
  const watched = watchPush(input)
  const answered = pipeline(watched.output, raw.response, { end: false })
  // A client that goes away ends the session by its signal; that is no failure of the answer.
  answered.catch(() => undefined)
  const changed = await serveRpc(session, watched.input, watched.output, rights)
  watched.output.end()
  await answered.catch(() => undefined)
  if (!changed || !caller) return
  await referencesChanged(dependencies, { project, user: caller.user, baseUrl }, watched.changes())
  // The push has happened; a database that is away now must not make it look refused.
  await adoptDefaultBranch({ database, git }, project).catch((error: unknown) => {
    logger.warn({ err: error, project_id: project.id }, 'could not look after the default branch')
  })
}

/**
 * What the client sends, unpacked: git sends longer negotiations compressed. A stream of its own, so that whoever is
 * done with it does not close the connection that the answer needs.
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
  // Whoever reads it learns of an error by that; before and after, nobody has to.
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
