import { isDeepStrictEqual } from 'node:util'
import type { BroadcastMessage, DatabaseOrTransaction, Rows } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { BroadcastFields } from '@switchyard/domain/broadcast'

const newestFirst = { id: 'desc' } as const

/** A range of time in which messages are shown; both ends are optional. */
export interface BroadcastTimes {
  endsAfter: Date | undefined
  startsBefore: Date | undefined
}

/**
 * Returns one page of the messages that are shown at some moment in a range of time, newest first, and their
 * number.
 */
export async function listBroadcastMessages(
  { prisma }: DatabaseOrTransaction,
  { endsAfter, startsBefore }: BroadcastTimes,
  rows: Rows,
): Promise<{ messages: BroadcastMessage[]; total: number }> {
  const where = { endsAt: { gt: endsAfter }, startsAt: { lt: startsBefore } }
  const [messages, total] = await Promise.all([
    prisma.broadcastMessage.findMany({ where, orderBy: newestFirst, ...rows }),
    prisma.broadcastMessage.count({ where }),
  ])
  return { messages, total }
}

/** @throws DomainError not-found */
export async function getBroadcastMessage(
  { prisma }: DatabaseOrTransaction,
  id: number,
): Promise<BroadcastMessage> {
  const message = await prisma.broadcastMessage.findUnique({ where: { id } })
  if (!message) throw notFound()
  return message
}

export async function createBroadcastMessage(
  { prisma }: DatabaseOrTransaction,
  fields: BroadcastFields,
): Promise<BroadcastMessage> {
  return prisma.broadcastMessage.create({ data: fields })
}

/**
 * Updates a message. Equal values are not a change and do not set `updatedAt`, so users who dismissed the
 * message do not see it again.
 *
 * @throws DomainError not-found
 */
export async function updateBroadcastMessage(
  database: DatabaseOrTransaction,
  id: number,
  changes: Partial<BroadcastFields>,
  now: Date,
): Promise<BroadcastMessage> {
  const known = await getBroadcastMessage(database, id)
  if (isDeepStrictEqual(known, { ...known, ...changes })) return known
  const [message] = await database.prisma.broadcastMessage.updateManyAndReturn({
    where: { id },
    data: { ...changes, updatedAt: now },
  })
  if (!message) throw notFound()
  return message
}

/** @throws DomainError not-found, also when another request deleted the message first */
export async function deleteBroadcastMessage({ prisma }: DatabaseOrTransaction, id: number): Promise<void> {
  const { count } = await prisma.broadcastMessage.deleteMany({ where: { id } })
  if (count === 0) throw notFound()
}
