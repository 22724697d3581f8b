import {
  type AuditAuthor,
  type AuditedChange,
  type CommitComment,
  type DatabaseOrTransaction,
  inPoolTransaction,
  type PoolClient,
  type Pooled,
  type Rows,
  recordAuditEvent,
  type User,
} from '@switchyard/db'
import { lockRow } from '@switchyard/db/sql'
import type { Precondition } from '@switchyard/domain'
import { enqueueForProject, type NewDelivery } from '@switchyard/webhooks'

/** The columns of a comment's author that answers show. */
type CommentAuthor = Pick<User, 'id' | 'username' | 'name' | 'state' | 'email' | 'createdAt'>

export type CommentWithAuthor = CommitComment & { author: CommentAuthor | null }

const withAuthor = { author: true } as const

/** Returns one page of a commit's comments, oldest first, and the number of all of them. */
export async function listCommitComments(
  { prisma }: DatabaseOrTransaction,
  where: { projectId: number; sha: string },
  rows: Rows,
): Promise<{ comments: CommentWithAuthor[]; total: number }> {
  const [comments, total] = await Promise.all([
    prisma.commitComment.findMany({ where, orderBy: { id: 'asc' }, include: withAuthor, ...rows }),
    prisma.commitComment.count({ where }),
  ])
  return { comments, total }
}

export const findNewestComment = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<CommentWithAuthor | null> =>
  prisma.commitComment.findFirst({ where: { projectId }, orderBy: { id: 'desc' }, include: withAuthor })

/** Returns the id of the discussion of a note, which is the id of its first note. */
export const discussionOf = ({ id, discussionId }: Pick<CommitComment, 'id' | 'discussionId'>): bigint =>
  discussionId ?? id

interface OfCommit {
  projectId: number
  sha: string
}

/**
 * Returns one page of a commit's discussions, in the order in which they began, each with its comments, and
 * the number of all discussions.
 */
export async function listCommitDiscussions(
  { prisma }: DatabaseOrTransaction,
  where: OfCommit,
  { skip, take }: Rows,
): Promise<{ discussions: CommentWithAuthor[][]; total: number }> {
  const { projectId, sha } = where
  const [keys, [counted]] = await Promise.all([
    prisma.$queryRaw<
      { key: bigint }[]
    >`SELECT DISTINCT COALESCE(discussion_id, id) AS key FROM commit_comments
      WHERE project_id = ${projectId} AND sha = ${sha} ORDER BY key OFFSET ${skip} LIMIT ${take}`,
    prisma.$queryRaw<{ total: bigint }[]>`SELECT count(DISTINCT COALESCE(discussion_id, id)) AS total
      FROM commit_comments WHERE project_id = ${projectId} AND sha = ${sha}`,
  ])
  const discussions = new Map<bigint, CommentWithAuthor[]>(keys.map(({ key }) => [key, []]))
  const comments = await prisma.commitComment.findMany({
    where: { ...where, ...inDiscussions(keys.map(({ key }) => key)) },
    orderBy: { id: 'asc' },
    include: withAuthor,
  })
  for (const comment of comments) discussions.get(discussionOf(comment))?.push(comment)
  return { discussions: [...discussions.values()], total: Number(counted?.total ?? 0) }
}

/** Lists the comments of a discussion on a commit, oldest first; empty when there is none. */
export const listCommentsOfDiscussion = (
  { prisma }: DatabaseOrTransaction,
  where: OfCommit,
  discussion: bigint,
): Promise<CommentWithAuthor[]> =>
  prisma.commitComment.findMany({
    where: { ...where, ...inDiscussions([discussion]) },
    orderBy: { id: 'asc' },
    include: withAuthor,
  })

const inDiscussions = (keys: bigint[]) => ({
  OR: [{ id: { in: keys }, discussionId: null }, { discussionId: { in: keys } }],
})

/** A comment to store. `path`, `line` and `lineType` are all set or all null. */
type NewCommitComment = Pick<
  CommitComment,
  'projectId' | 'sha' | 'note' | 'authorId' | 'path' | 'line' | 'lineType'
>

type MakeDelivery = (comment: CommentWithAuthor) => Omit<NewDelivery, 'webhookId'>

/**
 * Adds a comment and its webhook deliveries in one transaction.
 *
 * @param discussion the discussion that the comment answers; `new`: the comment begins one; null: the comment
 *   stands alone until somebody answers it
 * @param makeDelivery makes the delivery; called only when a webhook subscribes to comments
 */
export async function createCommitComment(
  { pool }: Pooled,
  { author, ...given }: Omit<NewCommitComment, 'authorId'> & { author: Omit<CommentAuthor, 'createdAt'> },
  discussion: bigint | 'new' | null,
  makeDelivery: MakeDelivery,
): Promise<CommentWithAuthor> {
  const { projectId, sha, note, path, line, lineType } = given
  return inPoolTransaction(pool, async (client) => {
    if (typeof discussion === 'bigint') {
      const begin = `UPDATE commit_comments SET discussion_id = id
        WHERE project_id = $1 AND id = $2 AND discussion_id IS NULL`
      await client.query({ name: 'begin-discussion', text: begin, values: [projectId, discussion] })
    }
    const { rows } = await client.query<NewRow>({
      name: 'add-commit-comment',
      text: `WITH fresh AS (SELECT nextval(pg_get_serial_sequence('commit_comments', 'id')) AS id), added AS (
          INSERT INTO commit_comments (project_id, sha, note, author_id, path, line, line_type, id, discussion_id)
          SELECT $1, $2, $3, $4, $5, $6, $7, fresh.id, CASE WHEN $9 THEN fresh.id ELSE $8::bigint END FROM fresh
          RETURNING *
        )
        SELECT added.id, added.created_at AS "createdAt", added.discussion_id AS "discussionId",
          u.created_at AS "authorSince"
        FROM added JOIN users u ON u.id = added.author_id`,
      values: [
        projectId,
        sha,
        note,
        author.id,
        path,
        line,
        lineType,
        ...(discussion === 'new' ? [null, true] : [discussion, false]),
      ],
    })
    const [row] = rows
    if (!row) throw new Error('the comment was not stored')
    const { id, createdAt, discussionId, authorSince } = row
    const comment = {
      ...given,
      id: BigInt(id),
      authorId: author.id,
      author: { ...author, createdAt: authorSince },
      createdAt,
      discussionId: discussionId === null ? null : BigInt(discussionId),
      editedAt: null,
    }
    await enqueueForProject(client, projectId, 'note', () => makeDelivery(comment))
    return comment
  })
}

interface NewRow {
  id: string
  createdAt: Date
  discussionId: string | null
  authorSince: Date
}

/** The user who changes another user's comment, for the audit log; null: its author changes it. */
export type OtherAuthor = AuditAuthor | null

interface CommentEdit {
  note: string
  other: OtherAuthor
  precondition: Precondition | undefined
}

const updatedAtOf = ({ editedAt, createdAt }: Pick<CommitComment, 'editedAt' | 'createdAt'>): Date =>
  editedAt ?? createdAt

async function requireUnedited(
  client: PoolClient,
  { projectId, id }: CommitComment,
  precondition: Precondition,
): Promise<void> {
  const row = await lockRow<Pick<CommitComment, 'editedAt' | 'createdAt'>>(
    client,
    'commit_comments',
    { project_id: projectId, id },
    'NO KEY UPDATE',
    'edited_at AS "editedAt", created_at AS "createdAt"',
  )
  if (row) precondition(updatedAtOf(row))
}

/**
 * Changes the text of a comment and stores the webhook deliveries about it.
 *
 * @returns null when the comment no longer exists
 * @throws DomainError precondition-failed
 */
export const updateCommitComment = (
  { pool }: Pooled,
  comment: CommentWithAuthor,
  { note, other, precondition }: CommentEdit,
  makeDelivery: MakeDelivery,
): Promise<CommentWithAuthor | null> =>
  inPoolTransaction(pool, async (client) => {
    if (precondition) await requireUnedited(client, comment, precondition)
    const { rows } = await client.query<{ editedAt: Date }>({
      name: 'edit-commit-comment',
      text: `UPDATE commit_comments SET note = $3, edited_at = CURRENT_TIMESTAMP
        WHERE project_id = $1 AND id = $2 RETURNING edited_at AS "editedAt"`,
      values: [comment.projectId, comment.id, note],
    })
    const [row] = rows
    if (!row) return null
    const changed = { ...comment, note, editedAt: row.editedAt }
    if (other) await recordAuditEvent(client, other, auditOf(comment, 'comment_changed'))
    await enqueueForProject(client, comment.projectId, 'note', () => makeDelivery(changed))
    return changed
  })

/** @returns whether the comment existed @throws DomainError precondition-failed */
export const deleteCommitComment = (
  { pool }: Pooled,
  comment: CommitComment,
  { other, precondition }: Pick<CommentEdit, 'other' | 'precondition'>,
): Promise<boolean> =>
  inPoolTransaction(pool, async (client) => {
    if (precondition) await requireUnedited(client, comment, precondition)
    const { rowCount } = await client.query({
      name: 'delete-commit-comment',
      text: 'DELETE FROM commit_comments WHERE project_id = $1 AND id = $2',
      values: [comment.projectId, comment.id],
    })
    if (rowCount === 0) return false
    if (other) await recordAuditEvent(client, other, auditOf(comment, 'comment_removed'))
    return true
  })

const auditOf = ({ projectId, id, sha, authorId }: CommitComment, eventName: string): AuditedChange => ({
  eventName,
  entityType: 'Project',
  entityId: projectId,
  details: { comment_id: Number(id), commit_id: sha, comment_author_id: authorId },
})
