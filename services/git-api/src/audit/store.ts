import type { AuditEvent, DatabaseOrTransaction, Prisma, Rows } from '@switchyard/db'
import { likeText } from '@switchyard/db/sql'
import { tenantEntities } from '@switchyard/domain/audit'

export interface AuditFilter {
  entityType?: string | undefined
  entityId?: string | undefined
  authorId?: number | undefined
  eventName?: string | undefined
  /**
   * Part of the event's name, of the entity's type or id, or of the author's name, at least three characters;
   * case does not matter.
   */
  search?: string | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
  /** Tenants whose entries about sagas are included; null or unset: all tenants. */
  tenants?: readonly string[] | null
}

/** Returns one page of the log, newest first, and the number of all entries that match. */
export async function listAuditEvents(
  { prisma }: DatabaseOrTransaction,
  filter: AuditFilter,
  rows: Rows,
): Promise<{ events: AuditEvent[]; total: number }> {
  const where = conditionOf(filter)
  const [events, total] = await Promise.all([
    prisma.auditEvent.findMany({ where, orderBy: { id: 'desc' }, ...rows }),
    prisma.auditEvent.count({ where }),
  ])
  return { events, total }
}

/**
 * Lists the newest entries before the entry with an id, so that new entries do not shift the next page.
 *
 * @param before undefined: the newest of all
 */
export const listAuditEventsBefore = (
  { prisma }: DatabaseOrTransaction,
  filter: AuditFilter,
  { before, take }: { before: number | undefined; take: number },
): Promise<AuditEvent[]> =>
  prisma.auditEvent.findMany({
    where: { ...conditionOf(filter), ...(before !== undefined && { id: { lt: before } }) },
    orderBy: { id: 'desc' },
    take,
  })

const ofTenants = (tenants: readonly string[]): Prisma.AuditEventWhereInput => ({
  OR: [
    { entityType: { notIn: tenantEntities } },
    ...tenants.map((tenant) => ({ details: { path: ['tenant'], equals: tenant } })),
  ],
})

function conditionOf({
  tenants,
  search,
  createdAfter,
  createdBefore,
  ...equal
}: AuditFilter): Prisma.AuditEventWhereInput {
  const given = Object.entries(equal).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    ...(search !== undefined && { OR: containing(search) }),
    ...(tenants && { AND: ofTenants(tenants) }),
    createdAt: { ...(createdAfter && { gte: createdAfter }), ...(createdBefore && { lte: createdBefore }) },
  }
}

function containing(search: string): Prisma.AuditEventWhereInput[] {
  const part = { contains: likeText(search), mode: 'insensitive' as const }
  return [{ eventName: part }, { entityType: part }, { entityId: part }, { authorName: part }]
}

export const findAuditEvent = (
  { prisma }: DatabaseOrTransaction,
  id: bigint,
  { tenants }: Pick<AuditFilter, 'tenants'>,
): Promise<AuditEvent | null> => prisma.auditEvent.findFirst({ where: { id, ...conditionOf({ tenants }) } })
