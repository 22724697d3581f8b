import type { CommentWithAuthor } from '@switchyard/db'
import { presentUser } from './user.js'

/** The contract's keys of the list and of the answer to a post, and the id that both lack. */
export const presentComment = (comment: CommentWithAuthor, baseUrl: string) => ({
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
