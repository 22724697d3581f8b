import type { DatabaseOrTransaction } from '../client.js'
import type { CommitComment, User } from '../generated/client.js'

export type CommentWithAuthor = CommitComment & { author: User | null }

const withAuthor = { author: true } as const

/** One page of a commit's comments, oldest first, and how many there are in all. */
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

/** A comment to be stored; the last three are set together, or none is. */
export type NewCommitComment = Pick<
  CommitComment,
  'projectId' | 'sha' | 'note' | 'authorId' | 'path' | 'line' | 'lineType'
>

export const createCommitComment = (
  { prisma }: DatabaseOrTransaction,
  data: NewCommitComment,
): Promise<CommentWithAuthor> => prisma.commitComment.create({ data, include: withAuthor })
