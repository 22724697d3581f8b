import {
  type CommitComment,
  type Database,
  type DatabaseOrTransaction,
  enqueueForProject,
  inPoolTransaction,
  type NewDelivery,
  type User,
} from '@switchyard/db'

/** The columns of a comment's author that answers show. */
type CommentAuthor = Pick<User, 'id' | 'username' | 'name' | 'state' | 'email' | 'createdAt'>

export type CommentWithAuthor = CommitComment & { author: CommentAuthor | null }

const withAuthor = { author: true } as const

/** One page of a commit's comments, oldest first, and the number of all of them. */
export async function listCommitComments(
  { prisma }: DatabaseOrTransaction,
  where: { projectId: number; sha: string },
  rows: { skip: number; take: number },
): Promise<{ comments: CommentWithAuthor[]; total: number }> {
  const [comments, total] = await Promise.all([
    prisma.commitComment.findMany({ where, orderBy: { id: 'asc' }, include: withAuthor, ...rows }),
    prisma.commitComment.count({ where }),
  ])
  return { comments, total }
}

/** One comment of a commit; null when there is none with this id. */
export const findCommitComment = (
  { prisma }: DatabaseOrTransaction,
  where: { projectId: number; sha: string; id: bigint },
): Promise<CommentWithAuthor | null> => prisma.commitComment.findFirst({ where, include: withAuthor })

export const findNewestComment = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<CommentWithAuthor | null> =>
  prisma.commitComment.findFirst({ where: { projectId }, orderBy: { id: 'desc' }, include: withAuthor })

/** A comment to store. `path`, `line` and `lineType` are all set or all null. */
type NewCommitComment = Pick<
  CommitComment,
  'projectId' | 'sha' | 'note' | 'authorId' | 'path' | 'line' | 'lineType'
>

/**
 * Adds a comment and the webhook deliveries about it in one transaction.
 *
 * @param makeDelivery makes the delivery; called only when a webhook subscribes to comments
 */
export async function createCommitComment(
  { pool }: Pick<Database, 'pool'>,
  { author, ...given }: Omit<NewCommitComment, 'authorId'> & { author: Omit<CommentAuthor, 'createdAt'> },
  makeDelivery: (comment: CommentWithAuthor) => Omit<NewDelivery, 'webhookId'>,
): Promise<CommentWithAuthor> {
  const { projectId, sha, note, path, line, lineType } = given
  return inPoolTransaction(pool, async (client) => {
    const { rows } = await client.query<{ id: string; createdAt: Date; authorSince: Date }>({
      name: 'add-commit-comment',
      text: `WITH added AS (
          INSERT INTO commit_comments (project_id, sha, note, author_id, path, line, line_type)
          VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *
        )
        SELECT added.id, added.created_at AS "createdAt", u.created_at AS "authorSince"
        FROM added JOIN users u ON u.id = added.author_id`,
      values: [projectId, sha, note, author.id, path, line, lineType],
    })
    const [row] = rows
    if (!row) throw new Error('the comment was not stored')
    const { id, createdAt, authorSince } = row
    const comment = {
      ...given,
      id: BigInt(id),
      authorId: author.id,
      author: { ...author, createdAt: authorSince },
      createdAt,
    }
    await enqueueForProject(client, projectId, 'note', () => makeDelivery(comment))
    return comment
  })
}
