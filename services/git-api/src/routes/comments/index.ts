import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createComment } from './create-comment.js'
import { listComments } from './list-comments.js'

export function commentRoutes(deps: Dependencies): Route[] {
  const comments = '/projects/:id/repository/commits/:sha/comments'
  return [
    route('GET', comments, deps.guards.readCode, listComments(deps)),
    route('POST', comments, deps.guards.comment, createComment(deps)),
  ]
}
