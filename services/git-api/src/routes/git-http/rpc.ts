import { createGunzip } from 'node:zlib'
import { listProtectedBranches } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import { type Call, endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { type GitService, serveRpc } from '../../git/smart-http.js'
import type { ProjectCall } from '../../guards.js'
import { adoptDefaultBranch } from '../../use-cases/adopt-default-branch.js'

/** One exchange of a fetch, or a push. */
export const rpc = ({ git, database, jobs }: Dependencies, service: GitService) =>
  endpoint({
    input: z.object({}),
    async handle(_input, { project, level }: ProjectCall, { raw, signal, logger }) {
      const input = requestBody(raw, service)
      const session = {
        path: git.open(project).path,
        service,
        protocol: raw.request.get('Git-Protocol'),
        signal,
      }
      const pushes = service === 'git-receive-pack'
      const rights = pushes
        ? { level, protections: await listProtectedBranches(database, project.id) }
        : undefined
      raw.response.set({ 'Content-Type': `application/x-${service}-result`, 'Cache-Control': 'no-cache' })
      const changed = await serveRpc(session, input, raw.response, rights)
      if (changed) {
        jobs.requestHousekeeping(project.id)
        // The push has happened; a database that is away now must not make it look refused.
        await adoptDefaultBranch({ database, git }, project).catch((error: unknown) => {
          logger.warn({ err: error, project_id: project.id }, 'could not look after the default branch')
        })
      }
      raw.response.end()
      return streamed
    },
  })

/** git sends longer negotiations compressed. */
function requestBody({ request }: Call['raw'], service: GitService) {
  const type = request.headers['content-type']
  if (type !== `application/x-${service}-request`) {
    throw new DomainError(
      'unsupported-media-type',
      `The provided content-type '${type ?? ''}' is not supported.`,
    )
  }
  const encoding = request.headers['content-encoding']
  return encoding === 'gzip' || encoding === 'x-gzip' ? request.pipe(createGunzip()) : request
}
