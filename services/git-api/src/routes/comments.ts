import type { Caller } from '@switchyard/domain/access'
import {
  created,
  endpoint,
  integer,
  pageParameters,
  pageReply,
  parameterProblem,
  proseCharsMax,
  type Route,
  route,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { commentShape, presentComment } from '../presenters/comment.js'
import { addComment, listComments as findComments, type Place } from '../use-cases/comments.js'
import { optional, optionalText } from '../wire/parameters.js'

export function commentRoutes(deps: Dependencies): Route[] {
  const path = '/projects/:id/repository/commits/:sha/comments'
  return [
    route('GET', path, deps.guards.readCode, listComments(deps)),
    route('POST', path, deps.guards.comment, createComment(deps)),
  ]
}

const listComments = (deps: Dependencies) =>
  endpoint({
    summary: 'Comments on a commit',
    replies: { 200: z.array(commentShape) },
    input: z.object({ ...pageParameters, sha: text() }),
    async handle({ sha, ...page }, access: ProjectCall, call) {
      const found = await findComments(deps, access, sha, rowsOf(page))
      const items = found.comments.map((comment) => presentComment(comment, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const createComment = (deps: Dependencies) =>
  endpoint({
    summary: 'Comment on a commit, or on a line of its diff',
    replies: { 201: commentShape },
    input: z.object({
      sha: text(),
      note: text(proseCharsMax),
      // A path that no file has makes a comment without a place, however long it is.
      path: optionalText(text(proseCharsMax)),
      line: optional(integer()),
      line_type: optional(z.enum(['new', 'old'])),
    }),
    async handle({ sha: revision, note, ...given }, access: ProjectCall<Caller>, call) {
      const comment = await addComment(deps, access, { revision, note, place: placeOf(given) }, call)
      return created(presentComment(comment, call.baseUrl))
    },
  })

interface PlaceFields {
  path?: string | undefined
  line?: number | undefined
  line_type?: Place['lineType'] | undefined
}

/** A path needs a line; a line without a path is ignored. */
function placeOf({ path, line, line_type: lineType = 'new' }: PlaceFields): Place | undefined {
  if (path === undefined) return undefined
  if (line === undefined) throw parameterProblem('line', 'is missing')
  return { path: path.replace(/^\/+/, ''), line, lineType }
}
