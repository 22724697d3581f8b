import type { Database } from '@switchyard/db'
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
import type { ProjectCall } from '../../guards.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import type { CommentDependencies, Position } from './comments.js'
import * as comments from './comments.js'
import { commentShape, presentComment } from './present.js'

export function commentRoutes(deps: CommentDependencies): Route[] {
  const path = '/projects/:id/repository/commits/:sha/comments'
  return [
    route('GET', path, deps.guards.readCode, listComments(deps.database)),
    route('POST', path, deps.guards.comment, createComment(deps)),
  ]
}

const listComments = (database: Database) =>
  endpoint({
    summary: 'List the comments on a commit',
    replies: { 200: z.array(commentShape) },
    refusals: [413],
    input: z.object({ ...pageParameters, sha: text() }),
    async handle({ sha, ...page }, access: ProjectCall, call) {
      const found = await comments.listComments(database, access, sha, rowsOf(page), call)
      const items = found.comments.map((comment) => presentComment(comment, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const createComment = (deps: CommentDependencies) =>
  endpoint({
    summary: 'Comment on a commit or on a line of its diff',
    replies: { 201: commentShape },
    input: z.object({
      sha: text(),
      note: text(proseCharsMax),
      // A path that no file has makes a comment without a position, so long paths are accepted.
      path: optionalText(text(proseCharsMax)),
      line: optional(integer()),
      line_type: optional(z.enum(['new', 'old'])),
    }),
    async handle({ sha: revision, note, ...given }, access: ProjectCall<Caller>, call) {
      const comment = await comments.addComment(
        deps,
        access,
        { revision, note, position: positionOf(given) },
        call,
      )
      return created(presentComment(comment, call.baseUrl))
    },
  })

interface PositionFields {
  path?: string | undefined
  line?: number | undefined
  line_type?: Position['lineType'] | undefined
}

/** Returns the position. A path needs a line; a line without a path is ignored. */
function positionOf({ path, line, line_type: lineType = 'new' }: PositionFields): Position | undefined {
  if (path === undefined) return undefined
  if (line === undefined) throw parameterProblem('line', 'is missing')
  return { path: path.replace(/^\/+/, ''), line, lineType }
}
