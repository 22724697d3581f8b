import {
  endpoint,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { discussionShape, presentDiscussion } from '../presenters/discussion.js'
import { getDiscussion as findDiscussion, listDiscussions as findDiscussions } from '../use-cases/comments.js'

export function discussionRoutes(deps: Dependencies): Route[] {
  const path = '/projects/:id/repository/commits/:sha/discussions'
  return [
    route('GET', path, deps.guards.readCode, listDiscussions(deps)),
    route('GET', `${path}/:discussion_id`, deps.guards.readCode, getDiscussion(deps)),
  ]
}

const listDiscussions = (deps: Dependencies) =>
  endpoint({
    summary: 'Comments on a commit, as discussions',
    replies: { 200: z.array(discussionShape) },
    input: z.object({ ...pageParameters, sha: text() }),
    async handle({ sha, ...page }, access: ProjectCall, call) {
      const { commit, comments, total } = await findDiscussions(deps, access, sha, rowsOf(page))
      const items = comments.map((comment) => presentDiscussion(comment, commit, call.baseUrl))
      return pageReply(items, page, total, call)
    },
  })

const getDiscussion = (deps: Dependencies) =>
  endpoint({
    summary: 'A comment on a commit, as a discussion',
    replies: { 200: discussionShape },
    input: z.object({ sha: text(), discussion_id: text() }),
    async handle({ sha, discussion_id }, access: ProjectCall, call) {
      const { commit, comment } = await findDiscussion(deps, access, sha, commentIdOf(discussion_id))
      return ok(presentDiscussion(comment, commit, call.baseUrl))
    },
  })

/** Ids of comments have 16 digits at most. */
const discussionId = /^0{24}[0-9a-f]{16}$/

/** The id of the comment that the id of a discussion stands for; null when it stands for none. */
function commentIdOf(id: string): bigint | null {
  const value = discussionId.test(id) ? BigInt(`0x${id}`) : null
  return value !== null && value <= 2n ** 63n - 1n ? value : null
}
