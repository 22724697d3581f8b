import type { Pooled } from '@switchyard/db'
import type { Repeated } from '@switchyard/service-kit/lifecycle'
import type { BulkItem, BulkItemState, BulkJob } from './job.js'
import {
  type BulkOperator,
  bulkSagasMax,
  countMatches,
  createBulkJob,
  getBulkJob,
  listBulkItems,
  type NewBulkJob,
  type SagaMatches,
  startBulkUndo,
  tooManyMatches,
} from './store.js'

export { cancelBulkJob, getBulkJob, listBulkJobs } from './store.js'

export interface BulkDependencies {
  /** Connections with a time limit for each statement. */
  database: Pooled
  runner: Pick<Repeated, 'wake'>
}

/**
 * Returns the sagas that a job with this search would process.
 *
 * @throws DomainError invalid-parameters when the search finds too many sagas for one job
 */
export async function previewBulkJob(
  database: Pooled,
  { search, order }: Pick<NewBulkJob, 'search' | 'order'>,
): Promise<SagaMatches> {
  const matches = await countMatches(database, search, order)
  if (matches.matched > bulkSagasMax) throw tooManyMatches()
  return matches
}

/** Stores a job and starts it. @throws as `createBulkJob` */
export async function startBulkJob(
  { database, runner }: BulkDependencies,
  job: NewBulkJob,
  operator: BulkOperator,
): Promise<BulkJob> {
  const created = await createBulkJob(database, job, operator)
  runner.wake()
  return created
}

/** Starts to undo the resolutions of a job. @throws as `startBulkUndo` */
export async function undoBulkJob(
  { database, runner }: BulkDependencies,
  { tenant, id }: { tenant: string; id: number },
  operator: BulkOperator,
): Promise<BulkJob> {
  const job = await startBulkUndo(database, tenant, id, operator)
  runner.wake()
  return job
}

/**
 * Lists a page of the sagas of a job, in their order.
 *
 * @param after position of the last saga of the previous page; 0: the first page
 * @throws DomainError not-found
 */
export async function listBulkResults(
  database: Pooled,
  job: { tenant: string; id: number },
  { state, after, take }: { state: BulkItemState | undefined; after: number; take: number },
): Promise<{ items: BulkItem[]; hasMore: boolean }> {
  await getBulkJob(database, job.tenant, job.id)
  const items = await listBulkItems(database, job, { state, after, take: take + 1 })
  return { items: items.slice(0, take), hasMore: items.length > take }
}
