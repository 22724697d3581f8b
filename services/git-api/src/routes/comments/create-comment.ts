import type { Caller } from '@switchyard/domain/access'
import { created, endpoint, integer, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commentShape, presentComment } from '../../presenters/comment.js'
import { addComment, type Place } from '../../use-cases/add-comment.js'
import { optional, optionalText } from '../optional.js'

const fields = z.object({
  sha: text(),
  note: text(),
  path: optionalText(text()),
  line: optional(integer()),
  line_type: optional(z.enum(['new', 'old'])),
})

type Fields = z.output<typeof fields>

/** A path asks for a line; a line without a path says nothing. */
const input = fields.superRefine(({ path, line }, context) => {
  if (path === undefined || line !== undefined) return
  context.addIssue({ code: 'invalid_type', expected: 'int', path: ['line'], input: undefined })
})

export const createComment = (deps: Dependencies) =>
  endpoint({
    summary: 'Comment on a commit, or on a line of its diff',
    replies: { 201: commentShape },
    input,
    async handle(body, access: ProjectCall<Caller>, call) {
      const command = { revision: body.sha, note: body.note, place: placeOf(body) }
      return created(presentComment(await addComment(deps, access, command, call), call.baseUrl))
    },
  })

function placeOf({ path, line, line_type }: Fields): Place | undefined {
  if (path === undefined || line === undefined) return
  return { path: path.replace(/^\/+/, ''), line, lineType: line_type ?? 'new' }
}
