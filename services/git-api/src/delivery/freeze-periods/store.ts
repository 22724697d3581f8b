import type { DatabaseOrTransaction, FreezePeriod, PrismaTransaction, Project } from '@switchyard/db'
import { lockProjectRow } from '@switchyard/db/sql'
import type { Caller } from '@switchyard/domain/access'
import { projectsWithReadableDeployments } from '../environments/store.js'

/** The fields of a freeze period that callers set. */
export type FreezePeriodFields = Pick<FreezePeriod, 'freezeStart' | 'freezeEnd' | 'cronTimezone'>

/**
 * Returns the number of freeze periods of a project. Locks the project until the transaction ends, so that
 * two transactions cannot add periods at the same time.
 */
export async function lockAndCountFreezePeriods(
  transaction: PrismaTransaction,
  projectId: number,
): Promise<number> {
  await lockProjectRow(transaction, projectId)
  return transaction.prisma.freezePeriod.count({ where: { projectId } })
}

export const createFreezePeriod = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  fields: FreezePeriodFields,
): Promise<FreezePeriod> => prisma.freezePeriod.create({ data: { ...fields, projectId } })

/** Lists all freeze periods of a project, oldest first. */
export const listFreezePeriods = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
): Promise<FreezePeriod[]> =>
  prisma.freezePeriod.findMany({ where: { projectId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })

/**
 * Lists freeze periods of projects whose deployments the caller may read, the most recently active project
 * first.
 */
export const listReadableFreezePeriods = (
  { prisma }: DatabaseOrTransaction,
  caller: Caller,
  take: number,
): Promise<(FreezePeriod & { project: Project })[]> =>
  prisma.freezePeriod.findMany({
    where: { project: { ...projectsWithReadableDeployments(caller), archived: false } },
    include: { project: true },
    orderBy: [{ project: { lastActivityAt: 'desc' } }, { projectId: 'asc' }, { id: 'asc' }],
    take,
  })

export const findFreezePeriod = (
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<FreezePeriod | null> =>
  prisma.freezePeriod.findUnique({ where: { projectId_id: { projectId, id } } })

/** @returns null when there is no such period */
export async function updateFreezePeriod(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
  fields: FreezePeriodFields,
): Promise<FreezePeriod | null> {
  const [period] = await prisma.freezePeriod.updateManyAndReturn({
    where: { projectId, id },
    data: { ...fields, updatedAt: new Date() },
  })
  return period ?? null
}

/** @returns whether there was such a period */
export async function deleteFreezePeriod(
  { prisma }: DatabaseOrTransaction,
  projectId: number,
  id: number,
): Promise<boolean> {
  const { count } = await prisma.freezePeriod.deleteMany({ where: { projectId, id } })
  return count > 0
}
