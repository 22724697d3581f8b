import type { JobIdentity } from '@switchyard/domain/access'
import type { AuditedEntity } from '@switchyard/domain/audit'
import type { DatabaseOrTransaction } from '../client.js'
import type { AuditEvent, AuditExport } from '../generated/client.js'
import { integer, json, rowColumns, text } from '../sql/row-columns.js'
import { query, type Transaction } from '../sql/transaction.js'
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

const entryOf = (
  { job, ...author }: AuditAuthor | typeof itself,
  { entityId, details, ...change }: AuditedChange,
) => ({
  ...author,
  ...change,
  entityId: String(entityId),
  details: { ...details, ...jobDetails(job) },
})

/** Returns the details of an entry about the CI job that acts. */
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
 * Appends entries of an author in the transaction of the changes, so that all of it is stored or nothing is.
 *
 * @param author null: Switchyard itself
 */
export async function recordAuditEvent(
  transaction: Transaction,
  author: AuditAuthor | null,
  ...changes: AuditedChange[]
): Promise<void> {
  if (changes.length === 0) return
  const entries = changes.map((change) => entryOf(author ?? itself, change))
  await query(transaction, queryOf(insertAuditEvents, entries))
}

const itself = {
  authorId: null,
  authorName: 'Switchyard',
  tokenId: null,
  requestId: null,
  ipAddress: null,
  job: undefined,
}

/**
 * Returns an entry in GitLab's shape, as the API and outside destinations show it. `details` repeats the
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

/** Lists the destinations of the audit log, with the position up to which each has received it. */
export const listAuditExports = ({ prisma }: DatabaseOrTransaction): Promise<AuditExport[]> =>
  prisma.auditExport.findMany({ orderBy: { destination: 'asc' } })

/** Returns the time of the oldest entry that a destination has not received; null: it has received all. */
export async function findOldestWaiting({ prisma }: DatabaseOrTransaction, position: bigint) {
  const oldest = await prisma.auditEvent.findFirst({
    where: { id: { gt: position } },
    orderBy: { id: 'asc' },
    select: { createdAt: true },
  })
  return oldest?.createdAt ?? null
}
