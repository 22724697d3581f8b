import type { Commit } from '@switchyard/domain/commit'
import { z } from 'zod'
import { presentUser, userShape } from '../../shapes/user.js'
import type { CommentWithAuthor } from './store.js'

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

/** Returns a comment in GitLab's shape, which has no `id`, for lists and for answers to a post. */
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

const positionShape = z.object({
  base_sha: z.string().nullable(),
  start_sha: z.string().nullable(),
  head_sha: z.string(),
  old_path: z.string(),
  new_path: z.string(),
  position_type: z.literal('text'),
  old_line: z.int().nullable(),
  new_line: z.int().nullable(),
})

export const noteShape = z
  .object({
    id: z.int(),
    type: z.enum(['DiffNote', 'DiscussionNote']).nullable(),
    body: z.string(),
    author: userShape.nullable(),
    created_at: z.date(),
    updated_at: z.date(),
    system: z.literal(false),
    noteable_id: z.null(),
    noteable_type: z.literal('Commit'),
    project_id: z.int(),
    commit_id: z.string(),
    position: positionShape.optional(),
    resolvable: z.literal(false),
    confidential: z.literal(false),
    internal: z.literal(false),
    imported: z.literal(false),
    imported_from: z.literal('none'),
    noteable_iid: z.null(),
    commands_changes: z.object({}),
  })
  .meta({ id: 'CommitNote', description: 'A comment on a commit, as a note of a discussion' })

export const discussionShape = z
  .object({ id: z.string(), individual_note: z.boolean(), notes: z.array(noteShape) })
  .meta({ id: 'CommitDiscussion', description: 'A discussion on a commit' })

const idDigits = 40

/** Returns the discussion id: the id of the first comment as 40 hexadecimal digits. */
const discussionIdOf = ({ id, discussionId }: CommentWithAuthor) =>
  (discussionId ?? id).toString(16).padStart(idDigits, '0')

/** Returns a discussion in GitLab's shape. @param notes all its comments, oldest first; at least one */
export const presentDiscussion = (
  notes: CommentWithAuthor[],
  commit: Commit,
  baseUrl: string,
): z.output<typeof discussionShape> => ({
  id: notes[0] ? discussionIdOf(notes[0]) : '',
  individual_note: notes.every(({ discussionId: begun }) => begun === null),
  notes: notes.map((note) => presentNote(note, commit, baseUrl)),
})

/** Returns a comment as a note of a discussion in GitLab's shape. */
export function presentNote(
  comment: CommentWithAuthor,
  commit: Commit,
  baseUrl: string,
): z.output<typeof noteShape> {
  const position = positionOf(comment, commit)
  const alone = comment.discussionId === null ? null : ('DiscussionNote' as const)
  return {
    id: Number(comment.id),
    type: position ? ('DiffNote' as const) : alone,
    body: comment.note,
    author: comment.author && presentUser(comment.author, baseUrl),
    created_at: comment.createdAt,
    updated_at: comment.editedAt ?? comment.createdAt,
    system: false as const,
    noteable_id: null,
    noteable_type: 'Commit' as const,
    project_id: comment.projectId,
    commit_id: commit.id,
    ...(position && { position }),
    resolvable: false as const,
    confidential: false as const,
    internal: false as const,
    imported: false as const,
    imported_from: 'none' as const,
    noteable_iid: null,
    commands_changes: {},
  }
}

function positionOf({ path, line, lineType }: CommentWithAuthor, { id, parentIds }: Commit) {
  if (path === null) return undefined
  const parent = parentIds[0] ?? null
  return {
    base_sha: parent,
    start_sha: parent,
    head_sha: id,
    old_path: path,
    new_path: path,
    position_type: 'text' as const,
    old_line: lineType === 'old' ? line : null,
    new_line: lineType === 'old' ? null : line,
  }
}
