import {
  type Database,
  type DatabaseOrTransaction,
  onTaken,
  type RepositoryStorageMove,
  type Rows,
} from '@switchyard/db'
import { conflict } from '@switchyard/domain'

const active = ['scheduled', 'started']

/**
 * Stores a request to move a repository; the git-api of the destination carries it out.
 *
 * @throws DomainError conflict while there is another move
 */
export const createRepositoryMove = (
  { prisma }: DatabaseOrTransaction,
  move: Pick<RepositoryStorageMove, 'projectId' | 'diskPath' | 'source' | 'destination'>,
): Promise<RepositoryStorageMove> =>
  prisma.repositoryStorageMove
    .create({ data: move })
    .catch(onTaken((cause) => conflict('The repository of this project is being moved already', { cause })))

/** Returns one page of the moves of a project, newest first, and the number of all of them. */
export async function listRepositoryMoves(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  rows: Rows,
): Promise<{ moves: RepositoryStorageMove[]; total: number }> {
  const where = { projectId }
  const [moves, total] = await Promise.all([
    prisma.repositoryStorageMove.findMany({ where, orderBy: { id: 'desc' }, ...rows }),
    prisma.repositoryStorageMove.count({ where }),
  ])
  return { moves, total }
}

export const findRepositoryMove = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<RepositoryStorageMove | null> =>
  prisma.repositoryStorageMove.findFirst({ where: { id, projectId } })

/** Lists the unfinished moves to a storage, oldest first, including moves whose process has ended. */
export const listActiveMoves = (
  { prisma }: DatabaseOrTransaction,
  destination: string,
): Promise<RepositoryStorageMove[]> =>
  prisma.repositoryStorageMove.findMany({
    where: { destination, state: { in: active } },
    orderBy: { id: 'asc' },
    take: 100,
  })

/** @returns false when the move has ended */
export async function markMoveStarted({ prisma }: DatabaseOrTransaction, id: number): Promise<boolean> {
  const { count } = await prisma.repositoryStorageMove.updateMany({
    where: { id, state: { in: active } },
    data: { state: 'started' },
  })
  return count > 0
}

/** @param error the reason, for administrators */
export async function markMoveFailed(
  { prisma }: DatabaseOrTransaction,
  id: number,
  error: string,
): Promise<void> {
  await prisma.repositoryStorageMove.updateMany({
    where: { id, state: { in: active } },
    data: { state: 'failed', error, finishedAt: new Date() },
  })
}

const copiesPerPage = 100

/** Lists, by id, the moves away from a storage that ended before a time and whose old copy still exists. */
export async function* leftCopies(
  { prisma }: DatabaseOrTransaction,
  source: string,
  before: Date,
): AsyncGenerator<RepositoryStorageMove> {
  for (let after = 0, page: RepositoryStorageMove[]; ; after = page.at(-1)?.id ?? after) {
    page = await prisma.repositoryStorageMove.findMany({
      where: {
        source,
        state: 'finished',
        sourceRemovedAt: null,
        finishedAt: { lt: before },
        id: { gt: after },
      },
      orderBy: { id: 'asc' },
      take: copiesPerPage,
    })
    yield* page
    if (page.length < copiesPerPage) return
  }
}

export async function markSourceRemoved({ prisma }: Pick<Database, 'prisma'>, id: number): Promise<void> {
  await prisma.repositoryStorageMove.updateMany({ where: { id }, data: { sourceRemovedAt: new Date() } })
}
