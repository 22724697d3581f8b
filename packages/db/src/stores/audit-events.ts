import type { JobIdentity } from '@switchyard/domain/access'
import { type AuditedEntity, tenantEntities } from '@switchyard/domain/audit'
import type { PoolClient } from 'pg'
import type { DatabaseOrTransaction, Rows } from '../client.js'
import type { AuditEvent, Prisma } from '../generated/client.js'
import { likeText } from '../sql/like-pattern.js'
import { integer, json, rowColumns, text } from '../sql/row-columns.js'
import { insertInto, queryOf } from '../sql/write-rows.js'

/** The user, token and request that caused an audit entry. */
export interface AuditAuthor {
  authorId: number
  authorName: string
  tokenId: number
  requestId: string
  ipAddress: string | null
  /** The CI job that acts. Unset: none. */
  job?: JobIdentity | undefined
}

/** The content of an audit entry besides its author. */
export interface AuditedChange {
  /** Name of the change, e.g. `member_added`. */
  eventName: string
  entityType: AuditedEntity
  entityId: string | number
  /** A few short values without secrets. */
  details: Record<string, string | number | boolean | null | string[]>
}

/** Appends an entry. Call it in the transaction of the change, so that both are stored or neither is. */
export async function recordAuditEvent(
  { prisma }: DatabaseOrTransaction,
  author: AuditAuthor,
  change: AuditedChange,
): Promise<void> {
  await prisma.auditEvent.create({ data: entryOf(author, change) })
}

const entryOf = (
  { job, ...author }: AuditAuthor | typeof itself,
  { entityId, details, ...change }: AuditedChange,
) => ({
  ...author,
  ...change,
  entityId: String(entityId),
  details: { ...details, ...jobDetails(job) },
})

/** What an entry says about the job that acts. */
const jobDetails = (job: JobIdentity | undefined) =>
  job && Object.fromEntries(Object.entries(job).map(([name, value]) => [`job_${name}`, value]))

const insertAuditEvents = insertInto(
  'add-audit-events',
  'audit_events',
  rowColumns<Omit<AuditEvent, 'id' | 'createdAt'>>({
    authorId: integer('author_id'),
    authorName: text('author_name'),
    tokenId: integer('token_id'),
    eventName: text('event_name'),
    entityType: text('entity_type'),
    entityId: text('entity_id'),
    details: json('details'),
    requestId: text('request_id'),
    ipAddress: text('ip_address'),
  }),
)

/**
 * Appends entries of one author, in the transaction of a connection.
 *
 * @param author null: Switchyard itself
 */
export async function recordAuditEvents(
  client: PoolClient,
  author: AuditAuthor | null,
  changes: readonly AuditedChange[],
): Promise<void> {
  if (changes.length === 0) return
  const entries = changes.map((change) => entryOf(author ?? itself, change))
  await client.query(queryOf(insertAuditEvents, entries))
}

const itself = {
  authorId: null,
  authorName: 'Switchyard',
  tokenId: null,
  requestId: null,
  ipAddress: null,
  job: undefined,
}

export interface AuditFilter {
  entityType?: string | undefined
  entityId?: string | undefined
  authorId?: number | undefined
  eventName?: string | undefined
  /**
   * Part of the event's name, the entity's type or id, or the author's name, in any case; at least three
   * characters.
   */
  search?: string | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
  /** Of entries about sagas only those of these tenants; null and unset: of every one. */
  tenants?: readonly string[] | null
}

/** One page of the log, newest first, and the number of all entries that match. */
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
 * The newest entries that match, before the entry with an id, so that new entries do not move those of the
 * next page.
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

/**
 * An entry as the API shows it and as destinations outside get it: GitLab's shape; `details` repeats the
 * author.
 */
export const auditEntryOf = (event: AuditEvent) => ({
  id: Number(event.id),
  author_id: event.authorId,
  entity_id: event.entityId,
  entity_type: event.entityType,
  event_name: event.eventName,
  details: {
    ...(event.details as Record<string, unknown>),
    author_name: event.authorName,
    token_id: event.tokenId,
    ip_address: event.ipAddress,
  },
  request_id: event.requestId,
  created_at: event.createdAt,
})

export type AuditEntry = ReturnType<typeof auditEntryOf>
