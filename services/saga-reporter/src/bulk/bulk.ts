import type { Rows } from '@switchyard/db'
import {
  type BulkItem,
  type BulkItemState,
  type BulkJob,
  type BulkOperator,
  bulkSagasMax,
  cancelBulkJob as cancelJob,
  countMatches,
  createBulkJob,
  getBulkJob as findJob,
  listBulkItems,
  listBulkJobs,
  type NewBulkJob,
  type Readable,
  type SagaMatches,
  startBulkUndo,
  tooManyMatches,
} from '@switchyard/saga-store'

/**
 * What a job with this search would process.
 *
 * @throws DomainError invalid-parameters when the search finds too many sagas for one job
 */
export async function previewBulkJob(
  database: Readable,
  { search, order }: Pick<NewBulkJob, 'search' | 'order'>,
): Promise<SagaMatches> {
  const matches = await countMatches(database, search, order)
  if (matches.matched > bulkSagasMax) throw tooManyMatches()
  return matches
}

/** The runner of jobs: see `src/bulk/run.ts`. */
interface Runner {
  /** Checks for jobs now. */
  wake: () => void
}

/** Stores a job and starts it. @throws as `createBulkJob` */
export async function startBulkJob(
  { database, runner }: { database: Readable; runner: Runner },
  job: NewBulkJob,
  operator: BulkOperator,
): Promise<BulkJob> {
  const created = await createBulkJob(database, job, operator)
  runner.wake()
  return created
}

/** Starts to undo the resolutions of a job. @throws as `startBulkUndo` */
export async function undoBulkJob(
  { database, runner }: { database: Readable; runner: Runner },
  { tenant, id }: { tenant: string; id: number },
  operator: BulkOperator,
): Promise<BulkJob> {
  const job = await startBulkUndo(database, tenant, id, operator)
  runner.wake()
  return job
}

/** Ends a running job after the step under way. @throws as `cancelBulkJob` of the store */
export const cancelBulkJob = (
  database: Readable,
  { tenant, id }: { tenant: string; id: number },
  { audit }: BulkOperator,
): Promise<BulkJob> => cancelJob(database, tenant, id, audit)

/** @throws DomainError not-found */
export const getBulkJob = (database: Readable, tenant: string, id: number): Promise<BulkJob> =>
  findJob(database, tenant, id)

/** A page of the jobs of a tenant, the newest first, and how many there are. */
export const pageBulkJobs = (database: Readable, tenant: string, rows: Rows) =>
  listBulkJobs(database, tenant, rows)

/**
 * A page of the sagas of a job, in their order.
 *
 * @param after position of the last saga of the page before; 0: the first page
 * @throws DomainError not-found
 */
export async function pageBulkResults(
  database: Readable,
  job: { tenant: string; id: number },
  { state, after, take }: { state: BulkItemState | undefined; after: number; take: number },
): Promise<{ items: BulkItem[]; hasMore: boolean }> {
  await findJob(database, job.tenant, job.id)
  const items = await listBulkItems(database, job, { state, after, take: take + 1 })
  return { items: items.slice(0, take), hasMore: items.length > take }
}
