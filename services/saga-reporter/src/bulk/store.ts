import type { AuditAuthor, PoolClient, Pooled, Rows } from '@switchyard/db'
import {
  integer,
  lockRow,
  ownerReleased,
  pick,
  rowColumns,
  SqlParameters,
  selectList,
  text,
  time,
} from '@switchyard/db/sql'
import { notFound } from '@switchyard/domain'
import type { SagaStatus } from '@switchyard/domain/saga'
import { readRows } from '../limited-database.js'
import { sagaSource } from '../saga-source.js'
import type { SagaOrder, SagaSearch } from '../shapes/search.js'
import type { BulkAction, BulkItem, BulkItemState, BulkJob } from './job.js'

/** Most sagas of one job. */
export const bulkSagasMax = 100_000

export interface SagaMatches {
  /** One more than {@link bulkSagasMax} when the search finds more. */
  matched: number
  statuses: Partial<Record<SagaStatus, number>>
}

/**
 * Counts the sagas of a search, in total and by status.
 *
 * @throws DomainError unavailable when the query exceeds the pool's time limit
 */
export async function countMatches(
  database: Pooled,
  search: SagaSearch,
  order: SagaOrder,
): Promise<SagaMatches> {
  const parameters = new SqlParameters()
  const { from, where } = sagaSource({ search, order }, parameters)
  const text = `SELECT found.status, count(*)::integer AS count FROM (
      SELECT s.status FROM ${from} WHERE ${where.join(' AND ')} LIMIT ${bulkSagasMax + 1}) found
    GROUP BY found.status ORDER BY found.status`
  const rows = await readRows<{ status: SagaStatus; count: number }>(database, {
    text,
    values: parameters.values,
  })
  return {
    matched: rows.reduce((sum, { count }) => sum + count, 0),
    statuses: Object.fromEntries(rows.map(({ status, count }) => [status, count])),
  }
}

/**
 * Stores the sagas of a search as the items of a job, in the order of the search.
 *
 * @returns their number; one more than {@link bulkSagasMax} when the search finds more
 */
export async function storeMatches(
  client: PoolClient,
  jobId: number,
  { search, order }: Pick<NewBulkJob, 'search' | 'order'>,
): Promise<number> {
  const parameters = new SqlParameters()
  const job = [parameters.add(search.tenant), parameters.add(jobId)]
  const source = sagaSource({ search, order }, parameters)
  const { rowCount } = await client.query(
    `INSERT INTO saga_bulk_items (tenant, job_id, position, saga_id)
     SELECT ${job[0]}::text, ${job[1]}::integer, row_number() OVER (), found.id FROM (
       SELECT s.id FROM ${source.from} WHERE ${source.where.join(' AND ')}
       ORDER BY ${source.order} LIMIT ${bulkSagasMax + 1}) found`,
    parameters.values,
  )
  return rowCount ?? 0
}

/** A saga of a job. */
interface BulkItemRow {
  tenant: string
  jobId: number
  position: number
  sagaId: string
  state: BulkItemState
  error: string | null
  /** The time at which the job resolved the saga, and the saga's former resolution. */
  resolvedAt: Date | null
  previousResolvedAt: Date | null
  previousResolvedBy: string | null
}

/** The columns of `saga_bulk_items`. */
export const bulkItems = rowColumns<BulkItemRow>({
  tenant: text('tenant'),
  jobId: integer('job_id'),
  position: integer('position'),
  sagaId: text('saga_id'),
  state: text('state'),
  error: text('error'),
  resolvedAt: time('resolved_at'),
  previousResolvedAt: time('previous_resolved_at'),
  previousResolvedBy: text('previous_resolved_by'),
})

const shownOfItem = selectList('i', pick(bulkItems, 'position', 'sagaId', 'state', 'error'))

export const bulkJobColumns = `j.tenant, j.id, j.action, j.note, j.filter, j.state, j.matched, j.done, j.failed, j.undone,
  j.undo_failed AS "undoFailed", j.author_id AS "authorId", j.author_name AS "authorName",
  j.undo_name AS "undoName", j.created_at AS "createdAt", j.finished_at AS "finishedAt"`

/** An operator who starts or undoes a job. */
export interface BulkOperator {
  userId: number
  /** Username. */
  name: string
  audit: AuditAuthor
}

export interface NewBulkJob {
  action: BulkAction
  note: string
  filter: Record<string, unknown>
  search: SagaSearch
  order: SagaOrder
  /** Number of sagas that the operator expects; null: any number. */
  expectedCount: number | null
}

/** Identifies a job. */
export interface BulkJobKey {
  tenant: string
  id: number
}

/** Stores a running job without its sagas. @returns its id */
export async function insertBulkJob(
  client: PoolClient,
  { action, note, filter, search }: NewBulkJob,
  operator: BulkOperator,
): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    `INSERT INTO saga_bulk_jobs (tenant, action, note, filter, author_id, author_name, audit_author, active_user_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $5) RETURNING id`,
    [search.tenant, action, note, filter, operator.userId, operator.name, operator.audit],
  )
  return rows[0]?.id as number
}

/** Locks a job until the transaction ends. @throws DomainError not-found */
export async function lockBulkJob(client: PoolClient, { tenant, id }: BulkJobKey): Promise<BulkJob> {
  const job = await lockRow<BulkJob>(client, 'saga_bulk_jobs j', { tenant, id }, 'UPDATE', bulkJobColumns)
  if (!job) throw notFound('Bulk job')
  return job
}

/** Stores the number of sagas of a job. */
export const setMatched = (client: PoolClient, job: BulkJobKey, matched: number): Promise<BulkJob> =>
  changeJob(client, job, 'matched = $3', [matched])

/** Stores that a job is undone from now on, by an operator. */
export const setUndoing = (client: PoolClient, job: BulkJobKey, operator: BulkOperator): Promise<BulkJob> =>
  changeJob(
    client,
    job,
    `state = 'undoing', position = 0, finished_at = NULL, active_user_id = $3, undo_name = $4, audit_author = $5`,
    [operator.userId, operator.name, operator.audit],
  )

/** Stores that a job was canceled, and ends the lease of its process. */
export const setCanceled = (client: PoolClient, job: BulkJobKey): Promise<BulkJob> =>
  changeJob(
    client,
    job,
    `state = 'canceled', finished_at = now(), active_user_id = NULL, ${ownerReleased}`,
    [],
  )

/** @param set SQL of the new values; parameters from $3 */
async function changeJob(
  client: PoolClient,
  { tenant, id }: BulkJobKey,
  set: string,
  values: unknown[],
): Promise<BulkJob> {
  const { rows } = await client.query<BulkJob>(
    `UPDATE saga_bulk_jobs j SET ${set} WHERE j.tenant = $1 AND j.id = $2 RETURNING ${bulkJobColumns}`,
    [tenant, id, ...values],
  )
  return rows[0] as BulkJob
}

/** @throws DomainError not-found */
export async function getBulkJob(database: Pooled, tenant: string, id: number): Promise<BulkJob> {
  const [job] = await readRows<BulkJob>(database, {
    text: `SELECT ${bulkJobColumns} FROM saga_bulk_jobs j WHERE j.tenant = $1 AND j.id = $2`,
    values: [tenant, id],
  })
  if (!job) throw notFound('Bulk job')
  return job
}

/** Returns a page of the jobs of a tenant, newest first, and their total number. */
export async function listBulkJobs(
  database: Pooled,
  tenant: string,
  { skip, take }: Rows,
): Promise<{ jobs: BulkJob[]; total: number }> {
  const [jobs, [counted]] = await Promise.all([
    readRows<BulkJob>(database, {
      text: `SELECT ${bulkJobColumns} FROM saga_bulk_jobs j WHERE j.tenant = $1
        ORDER BY j.id DESC OFFSET $2 LIMIT $3`,
      values: [tenant, skip, take],
    }),
    readRows<{ total: number }>(database, {
      text: 'SELECT count(*)::integer AS total FROM saga_bulk_jobs WHERE tenant = $1',
      values: [tenant],
    }),
  ])
  return { jobs, total: counted?.total ?? 0 }
}

/** Lists the sagas of a job in their order, at most `take` after a position. */
export const listBulkItems = (
  database: Pooled,
  { tenant, id }: BulkJobKey,
  { state, after, take }: { state: BulkItemState | undefined; after: number; take: number },
): Promise<BulkItem[]> =>
  readRows<BulkItem>(database, {
    text: `SELECT ${shownOfItem} FROM saga_bulk_items i
      WHERE i.tenant = $1 AND i.job_id = $2 AND i.position > $3 AND ($4::text IS NULL OR i.state = $4)
      ORDER BY i.position LIMIT $5`,
    values: [tenant, id, after, state ?? null, take],
  })

/**
 * Deletes a job that ended before an instant, with its items, of which there may be many.
 *
 * @returns whether there was such a job
 */
export async function deleteBulkJob({ pool }: Pooled, endedBefore: Date): Promise<boolean> {
  const { rowCount } = await pool.query(
    `DELETE FROM saga_bulk_jobs WHERE (tenant, id) IN
      (SELECT tenant, id FROM saga_bulk_jobs WHERE finished_at < $1 LIMIT 1)`,
    [endedBefore],
  )
  return rowCount === 1
}
