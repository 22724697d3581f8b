import type { DatabaseOrTransaction } from '../client.js'
import type { AuditEvent, Prisma } from '../generated/client.js'

/** Who does something, and from where. */
export interface AuditAuthor {
  authorId: number
  authorName: string
  tokenId: number
  requestId: string
  ipAddress: string | null
}

/** What an audit entry tells besides its author. */
export interface AuditedChange {
  /** What was done, e.g. `member_added`. */
  eventName: string
  /** Kind of the thing it was done to, e.g. `Project`. */
  entityType: string
  entityId: string | number
  /** Small, and never a secret. */
  details: Record<string, string | number | boolean | null | string[]>
}

/** Appends an entry; called in the transaction of the change, so that neither holds without the other. */
export async function recordAuditEvent(
  { prisma }: DatabaseOrTransaction,
  author: AuditAuthor,
  { entityId, ...change }: AuditedChange,
): Promise<void> {
  await prisma.auditEvent.create({ data: { ...author, ...change, entityId: String(entityId) } })
}

export interface AuditFilter {
  entityType?: string | undefined
  entityId?: string | undefined
  authorId?: number | undefined
  eventName?: string | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
}

/** One page of the log, newest first, and how many entries fit in all. */
export async function listAuditEvents(
  { prisma }: DatabaseOrTransaction,
  { createdAfter, createdBefore, ...equal }: AuditFilter,
  rows: { skip: number; take: number },
): Promise<{ events: AuditEvent[]; total: number }> {
  const given = Object.entries(equal).filter(([, value]) => value !== undefined)
  const where: Prisma.AuditEventWhereInput = {
    ...Object.fromEntries(given),
    createdAt: { ...(createdAfter && { gte: createdAfter }), ...(createdBefore && { lte: createdBefore }) },
  }
  const [events, total] = await Promise.all([
    prisma.auditEvent.findMany({ where, orderBy: { id: 'desc' }, ...rows }),
    prisma.auditEvent.count({ where }),
  ])
  return { events, total }
}

export const findAuditEvent = ({ prisma }: DatabaseOrTransaction, id: bigint): Promise<AuditEvent | null> =>
  prisma.auditEvent.findUnique({ where: { id } })
