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
import { lockName, lockRow } from '@switchyard/db/sql'
import { invalid, type Precondition, tooLarge } from '@switchyard/domain'
import type { Call } from '@switchyard/service-kit/http'
import { enqueueForProject, type NewDelivery } from '@switchyard/webhooks'

/** The columns of a comment's author that answers show. */
type CommentAuthor = Pick<User, 'id' | 'username' | 'name' | 'state' | 'email' | 'createdAt'>

export type CommentWithAuthor = CommitComment & { author: CommentAuthor | null }

const withAuthor = { author: true } as const

interface OfCommit {
  projectId: number
  sha: string
}

/** A request whose answer shows comments. */
type Reading = Pick<Call, 'holdAnswer'>

const mebibyte = 1024 * 1024
/** Most bytes of comments in one answer. */
const answerBytesMax = 64 * mebibyte
/** Bytes of a comment in an answer besides its text and its path, at most. */
const otherBytes = 1024

/**
 * Returns comments on a commit, oldest first, once there is memory for them.
 *
 * @param discussions ids of the discussions whose comments are read; null: all
 * @param rows unset: all
 * @throws DomainError too-large
 */
async function readComments(
  { prisma }: DatabaseOrTransaction,
  { projectId, sha }: OfCommit,
  discussions: bigint[] | null,
  { holdAnswer }: Reading,
  rows?: Rows,
): Promise<CommentWithAuthor[]> {
  const [measured] = await prisma.$queryRaw<{ bytes: number }[]>`
    SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM (
      SELECT octet_length(note) + 2 * coalesce(octet_length(path), 0) + ${otherBytes} AS bytes
      FROM commit_comments WHERE project_id = ${projectId} AND sha = ${sha}
        AND (${discussions}::bigint[] IS NULL OR coalesce(discussion_id, id) = ANY(${discussions}::bigint[]))
      ORDER BY id OFFSET ${rows?.skip ?? 0} LIMIT ${rows?.take ?? null}::bigint) AS page`
  const bytes = measured?.bytes ?? 0
  if (bytes > answerBytesMax)
    throw tooLarge('These comments have more than 64 MB; ask for fewer with per_page')
  await holdAnswer(bytes)
  return prisma.commitComment.findMany({
    where: { projectId, sha, ...(discussions && inDiscussions(discussions)) },
    orderBy: { id: 'asc' },
    include: withAuthor,
    ...rows,
  })
}

/**
 * Returns one page of a commit's comments, oldest first, and the number of all of them.
 *
 * @throws DomainError too-large
 */
export async function listCommitComments(
  database: DatabaseOrTransaction,
  where: OfCommit,
  rows: Rows,
  call: Reading,
): Promise<{ comments: CommentWithAuthor[]; total: number }> {
  const [comments, total] = await Promise.all([
    readComments(database, where, null, call, rows),
    database.prisma.commitComment.count({ where }),
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

/**
 * Returns one page of a commit's discussions, in the order in which they began, each with its comments, and
 * the number of all discussions.
 *
 * @throws DomainError too-large
 */
export async function listCommitDiscussions(
  database: DatabaseOrTransaction,
  where: OfCommit,
  { skip, take }: Rows,
  call: Reading,
): Promise<{ discussions: CommentWithAuthor[][]; total: number }> {
  const { prisma } = database
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
  const comments = await readComments(database, where, [...discussions.keys()], call)
  for (const comment of comments) discussions.get(discussionOf(comment))?.push(comment)
  return { discussions: [...discussions.values()], total: Number(counted?.total ?? 0) }
}

/**
 * Lists the comments of a discussion on a commit, oldest first; empty when there is none.
 *
 * @param rows unset: all
 * @throws DomainError too-large
 */
export const listCommentsOfDiscussion = (
  database: DatabaseOrTransaction,
  where: OfCommit,
  discussion: bigint,
  call: Reading,
  rows?: Rows,
): Promise<CommentWithAuthor[]> => readComments(database, where, [discussion], call, rows)

export const countCommentsOfDiscussion = (
  { prisma }: DatabaseOrTransaction,
  where: OfCommit,
  discussion: bigint,
): Promise<number> => prisma.commitComment.count({ where: { ...where, ...inDiscussions([discussion]) } })

/** Returns the first comment of a discussion without its text. */
export const findFirstComment = (
  { prisma }: DatabaseOrTransaction,
  where: OfCommit,
  discussion: bigint,
): Promise<Omit<CommitComment, 'note'> | null> =>
  prisma.commitComment.findFirst({
    where: { ...where, ...inDiscussions([discussion]) },
    orderBy: { id: 'asc' },
    omit: { note: true },
  })

export const findCommentOfDiscussion = (
  { prisma }: DatabaseOrTransaction,
  where: OfCommit,
  discussion: bigint,
  id: number,
): Promise<CommentWithAuthor | null> =>
  prisma.commitComment.findFirst({
    where: { ...where, id: BigInt(id), ...inDiscussions([discussion]) },
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

/** Limits of one discussion: its notes, and the bytes of all their texts. An answer shows all of them. */
const notesMax = 500
const notesBytesMax = 2 * mebibyte

/** Locks a discussion until the transaction ends, so that no two transactions add to it at the same time. */
const lockDiscussion = (client: PoolClient, projectId: number, discussion: bigint): Promise<void> =>
  lockName(client, `switchyard.discussions ${projectId} ${discussion}`)

/** Requires that a locked discussion is within its limits after a change. @throws DomainError invalid */
async function requireWithinLimits(
  client: PoolClient,
  { projectId, sha }: OfCommit,
  discussion: bigint,
): Promise<void> {
  const { rows } = await client.query<{ notes: number; bytes: number }>({
    name: 'measure-discussion',
    text: `SELECT count(*)::int AS notes, sum(octet_length(note))::float8 AS bytes FROM commit_comments
      WHERE project_id = $1 AND sha = $2 AND coalesce(discussion_id, id) = $3`,
    values: [projectId, sha, discussion],
  })
  const { notes = 0, bytes = 0 } = rows[0] ?? {}
  if (notes > notesMax) throw invalid(`A discussion has ${notesMax} notes at most`)
  if (bytes > notesBytesMax) throw invalid('The notes of a discussion have 2 MB of text at most')
}

type MakeDelivery = (comment: CommentWithAuthor) => Omit<NewDelivery, 'webhookId'>

/**
 * Adds a comment and its webhook deliveries in one transaction.
 *
 * @param discussion the discussion that the comment answers; `new`: the comment begins one; null: the comment
 *   stands alone until somebody answers it
 * @param makeDelivery makes the delivery; called only when a webhook subscribes to comments
 * @throws DomainError invalid for a full discussion
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
      await lockDiscussion(client, projectId, discussion)
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
    if (typeof discussion === 'bigint') await requireWithinLimits(client, given, discussion)
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
 * @throws DomainError precondition-failed; invalid for a full discussion
 */
export const updateCommitComment = (
  { pool }: Pooled,
  comment: CommentWithAuthor,
  { note, other, precondition }: CommentEdit,
  makeDelivery: MakeDelivery,
): Promise<CommentWithAuthor | null> =>
  inPoolTransaction(pool, async (client) => {
    await lockDiscussion(client, comment.projectId, discussionOf(comment))
    if (precondition) await requireUnedited(client, comment, precondition)
    const { rows } = await client.query<{ editedAt: Date }>({
      name: 'edit-commit-comment',
      text: `UPDATE commit_comments SET note = $3, edited_at = CURRENT_TIMESTAMP
        WHERE project_id = $1 AND id = $2 RETURNING edited_at AS "editedAt"`,
      values: [comment.projectId, comment.id, note],
    })
    const [row] = rows
    if (!row) return null
    // A discussion that is larger than the limits can still be shortened.
    const isLonger = Buffer.byteLength(note) > Buffer.byteLength(comment.note)
    if (isLonger) await requireWithinLimits(client, comment, discussionOf(comment))
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
