import type { Repository } from '@switchyard/git-storage'
import { type Call, type Reply, WrittenJson, writeJson } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'

/** Headers, and what holds them. */
const headersBytes = 2_000

export interface KeepableReply extends Reply {
  /** The next request may find more, so this one is not kept. */
  uncacheable?: boolean
}

/**
 * A list about a commit, written down. Commits never change, so the same request about the same one is answered by
 * what was written for the first; a branch that moves names another one.
 *
 * @param query what was asked for, as it was understood: a body may have parts of it
 */
export function keptReply(
  repository: Repository,
  commitId: string,
  query: object,
  { project }: ProjectCall,
  call: Call,
  make: () => Promise<KeepableReply>,
): Promise<Reply> {
  const asked = `${call.baseUrl} ${call.raw.request.originalUrl} ${JSON.stringify(query)}`
  return repository.getOrCompute(
    `reply ${commitId} ${project.pathWithNamespace} ${asked}`,
    async () => {
      const reply = await make()
      return { ...reply, body: await writeJson(reply.body) }
    },
    ({ body, uncacheable }) =>
      uncacheable ? Number.POSITIVE_INFINITY : headersBytes + (body instanceof WrittenJson ? body.bytes : 0),
  )
}
