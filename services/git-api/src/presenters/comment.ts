import type { CommentWithAuthor } from '@switchyard/db'
import { z } from 'zod'
import { presentUser, userShape } from './user.js'

export const commentShape = z
  .object({
    id: z.int(),
    note: z.string(),
    path: z.string().nullable(),
    line: z.int().nullable(),
    line_type: z.string().nullable(),
    author: z.object({ ...userShape.shape, email: z.string(), created_at: z.date() }).nullable(),
    created_at: z.date(),
  })
  .meta({ id: 'CommitComment', description: 'A comment on a commit, or on a line of its diff' })

/** The same fields in a list and in the answer to a post; GitLab has no `id` here. */
export const presentComment = (
  comment: CommentWithAuthor,
  baseUrl: string,
): z.output<typeof commentShape> => ({
  id: Number(comment.id),
  note: comment.note,
  path: comment.path,
  line: comment.line,
  line_type: comment.lineType,
  author: comment.author && {
    ...presentUser(comment.author, baseUrl),
    email: comment.author.email,
    created_at: comment.author.createdAt,
  },
  created_at: comment.createdAt,
})
