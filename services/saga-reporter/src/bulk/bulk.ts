import {
  type AuditAuthor,
  type AuditedChange,
  inPoolTransaction,
  onTaken,
  type Pooled,
  recordAuditEvent,
} from '@switchyard/db'
import { conflict, invalidParameters } from '@switchyard/domain'
import type { Repeated } from '@switchyard/service-kit/lifecycle'
import { refuseTooLong } from '../limited-database.js'
import type { BulkItem, BulkItemState, BulkJob } from './job.js'
import {
  type BulkJobKey,
  type BulkOperator,
  bulkSagasMax,
  countMatches,
  getBulkJob,
  insertBulkJob,
  listBulkItems,
  lockBulkJob,
  type NewBulkJob,
  type SagaMatches,
  setCanceled,
  setMatched,
  setUndoing,
  storeMatches,
} from './store.js'

export { getBulkJob, listBulkJobs } from './store.js'

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

/**
 * Stores a job with the sagas that its search finds now, and starts it.
 *
 * @throws DomainError conflict when the operator has a running job, or the number of sagas is not the
 *   expected one | invalid-parameters when the search finds too many sagas | unavailable when the search
 *   takes too long
 */
export async function startBulkJob(
  { database, runner }: BulkDependencies,
  given: NewBulkJob,
  operator: BulkOperator,
): Promise<BulkJob> {
  const { action, search, expectedCount } = given
  const created = await inPoolTransaction(database.pool, async (client) => {
    const id = await insertBulkJob(client, given, operator)
    const matched = await storeMatches(client, id, given)
    if (matched > bulkSagasMax) throw tooManyMatches()
    if (expectedCount !== null && matched !== expectedCount)
      throw conflict(`The filter finds ${matched} sagas and not ${expectedCount}`)
    const job = await setMatched(client, { tenant: search.tenant, id }, matched)
    await recordAuditEvent(client, operator.audit, audited(`saga_bulk_${action}`, job))
    return job
  })
    .catch(refuseTooLong)
    .catch(refuseSecondJob)
  runner.wake()
  return created
}

/**
 * Starts to undo the resolutions of a job.
 *
 * @throws DomainError not-found | conflict when the job is running, was undone, or wrote notes, or the
 *   operator has a running job
 */
export async function undoBulkJob(
  { database, runner }: BulkDependencies,
  key: BulkJobKey,
  operator: BulkOperator,
): Promise<BulkJob> {
  const undone = await inPoolTransaction(database.pool, async (client) => {
    const job = await lockBulkJob(client, key)
    if (job.action !== 'resolve') throw conflict('Notes cannot be undone')
    if (job.state === 'undone') throw conflict('The job has been undone')
    if (job.finishedAt === null) throw conflict(`The job is still ${job.state}`)
    await recordAuditEvent(client, operator.audit, audited('saga_bulk_undo', job))
    return setUndoing(client, key, operator)
  })
    .catch(refuseTooLong)
    .catch(refuseSecondJob)
  runner.wake()
  return undone
}

/**
 * Ends a running job after the current step; sagas that it has not reached stay unchanged.
 *
 * @throws DomainError not-found | conflict when the job is not running
 */
export const cancelBulkJob = ({ pool }: Pooled, key: BulkJobKey, audit: AuditAuthor): Promise<BulkJob> =>
  inPoolTransaction(pool, async (client) => {
    // A step holds the lock of its job until it is committed.
    const job = await lockBulkJob(client, key)
    if (job.state !== 'running') throw conflict(`The job is ${job.state}`)
    await recordAuditEvent(client, audit, audited('saga_bulk_cancel', job))
    return setCanceled(client, key)
  })

const tooManyMatches = () => invalidParameters([`filter finds more than ${bulkSagasMax} sagas: narrow it`])

/** A user has at most one running job. */
const refuseSecondJob = onTaken((cause) => conflict('You have a bulk job that is still running', { cause }))

const audited = (eventName: string, { id, tenant, matched }: BulkJob): AuditedChange => ({
  eventName,
  entityType: 'SagaBulkJob',
  entityId: id,
  details: { tenant, matched },
})

/**
 * Lists a page of the sagas of a job, in their order.
 *
 * @param after position of the last saga of the previous page; 0: the first page
 * @throws DomainError not-found
 */
export async function listBulkResults(
  database: Pooled,
  job: BulkJobKey,
  { state, after, take }: { state: BulkItemState | undefined; after: number; take: number },
): Promise<{ items: BulkItem[]; hasMore: boolean }> {
  await getBulkJob(database, job.tenant, job.id)
  const items = await listBulkItems(database, job, { state, after, take: take + 1 })
  return { items: items.slice(0, take), hasMore: items.length > take }
}
