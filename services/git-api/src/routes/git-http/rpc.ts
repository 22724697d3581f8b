import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { listProtectedBranches } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import { type GitService, type GitSession, serveRpc } from '@switchyard/git-storage'
import { arriving, type Call, endpoint, StalledBody, streamed } from '@switchyard/service-kit/http'
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
      } catch (error) {
        throw body.errored instanceof StalledBody ? body.errored : error
      } finally {
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

/** A client may compress a pack before it sends the rest of it, and slow lines are welcome; silence for ever is not. */
const pace = { periodMs: 5 * 60_000, periodBytesMin: 1 }

/** What the client sends, decompressed: git compresses longer negotiations. */
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
  const sent = Readable.from(arriving(request, pace), { objectMode: false })
  const body = new PassThrough()
  // The reader of the body learns of an error; before and after it reads, an error matters to nobody.
  body.on('error', () => undefined)
  sent.on('error', (error) => body.destroy(error))
  body.on('close', () => sent.destroy())
  if (encoding === 'identity') return sent.pipe(body)
  const unpacked = sent.pipe(createGunzip())
  unpacked.on('error', (cause) => body.destroy(unreadable(cause)))
  body.on('close', () => unpacked.destroy())
  return unpacked.pipe(body)
}

const encodings = ['identity', 'gzip', 'x-gzip']

const unreadable = (cause: Error) =>
  new DomainError('invalid-parameters', 'the body could not be read', { cause })
