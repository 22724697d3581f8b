import type { AuditAuthor, PoolClient, Pooled } from '@switchyard/db'
import {
  hasNoOwner,
  leaseEnd,
  leaseRows,
  omit,
  ownerReleased,
  pick,
  queryOf,
  selectList,
  updateIn,
} from '@switchyard/db/sql'
import { type LockedSaga, lockSagas } from '../resolve/store.js'
import type { BulkItemState, BulkJob } from './job.js'
import { bulkItems, bulkJobColumns } from './store.js'

/** A job on which only its owner may work until the lease ends. */
export interface BulkLease {
  tenant: string
  id: number
  /** A unique name of this process. */
  owner: string
}

const claim = {
  name: 'saga-bulk-claim',
  text: leaseRows({
    table: 'saga_bulk_jobs',
    keys: ['tenant', 'id'],
    free: `leased.active_user_id IS NOT NULL AND ${hasNoOwner('leased')}`,
    order: 'leased.id',
    set: `owner = $3, owned_until = ${leaseEnd('$2')}`,
    select: 'SELECT tenant, id FROM leased',
  }),
}

/**
 * Leases the oldest job on which no process works.
 *
 * @returns null when there is none
 */
export async function claimBulkJob(
  { pool }: Pooled,
  owner: string,
  leaseMs: number,
): Promise<BulkLease | null> {
  const { rows } = await pool.query<Pick<BulkLease, 'tenant' | 'id'>>({
    ...claim,
    values: [1, leaseMs, owner],
  })
  const [job] = rows
  return job ? { ...job, owner } : null
}

/** Ends the lease, so that another process can take the job at once. */
export async function releaseBulkJob({ pool }: Pooled, { tenant, id, owner }: BulkLease): Promise<void> {
  await pool.query(
    `UPDATE saga_bulk_jobs SET ${ownerReleased} WHERE tenant = $1 AND id = $2 AND owner = $3`,
    [tenant, id, owner],
  )
}

/** Ends a job after an unexpected error. */
export async function failBulkJob({ pool }: Pooled, { tenant, id, owner }: BulkLease): Promise<void> {
  await pool.query(
    `UPDATE saga_bulk_jobs SET state = 'failed', finished_at = now(), active_user_id = NULL, ${ownerReleased}
     WHERE tenant = $1 AND id = $2 AND owner = $3`,
    [tenant, id, owner],
  )
}

/** An item of a step, and its saga, which the step has locked. */
export interface BulkStepItem {
  position: number
  sagaId: string
  /** The time at which this job resolved the saga, and the saga's former resolution. */
  resolvedAt: Date | null
  previousResolvedAt: Date | null
  previousResolvedBy: string | null
  /** Null when the saga no longer exists. */
  saga: LockedSaga | null
}

export interface BulkStep {
  job: BulkJob
  audit: AuditAuthor
  /** Empty when the job has no more sagas. */
  items: BulkStepItem[]
}

/**
 * Returns the next sagas of a job, in the transaction that changes them. The transaction holds the locks of
 * the job and of the sagas, so no other process works on them.
 *
 * @returns null when the lease has ended
 */
export async function takeBulkStep(
  client: PoolClient,
  { tenant, id, owner }: BulkLease,
  { leaseMs, take }: { leaseMs: number; take: number },
): Promise<BulkStep | null> {
  const { rows: jobs } = await client.query<BulkJob & { audit: AuditAuthor; position: number }>(
    `UPDATE saga_bulk_jobs j SET owned_until = ${leaseEnd('$4')}
     WHERE j.tenant = $1 AND j.id = $2 AND j.owner = $3 AND j.active_user_id IS NOT NULL
     RETURNING ${bulkJobColumns}, j.audit_author AS audit, j.position`,
    [tenant, id, owner, leaseMs],
  )
  const [found] = jobs
  if (!found) return null
  const { audit, position, ...job } = found
  const { rows: items } = await client.query<Omit<BulkStepItem, 'saga'>>(
    `SELECT ${selectList('i', omit(bulkItems, 'tenant', 'jobId', 'state', 'error'))}
     FROM saga_bulk_items i WHERE i.tenant = $1 AND i.job_id = $2 AND i.position > $3 AND i.state = $4
     ORDER BY i.position LIMIT $5`,
    [tenant, id, position, job.state === 'undoing' ? 'done' : 'pending', take],
  )
  const sagas = await lockSagas(
    client,
    tenant,
    items.map(({ sagaId }) => sagaId),
  )
  return { job, audit, items: items.map((item) => ({ ...item, saga: sagas.get(item.sagaId) ?? null })) }
}

export interface BulkItemOutcome {
  position: number
  state: Exclude<BulkItemState, 'pending'>
  error: string | null
  resolvedAt: Date | null
  previousResolvedAt: Date | null
  previousResolvedBy: string | null
}

const updateItems = updateIn(
  'saga-bulk-update-items',
  'saga_bulk_items',
  pick(bulkItems, 'tenant', 'jobId', 'position'),
  pick(bulkItems, 'state', 'error', 'resolvedAt', 'previousResolvedAt', 'previousResolvedBy'),
)

/** Stores the outcomes of a step, and the position at which the next step begins. */
export async function endBulkStep(
  client: PoolClient,
  { tenant, id }: BulkLease,
  outcomes: readonly BulkItemOutcome[],
): Promise<void> {
  await client.query(
    queryOf(
      updateItems,
      outcomes.map((outcome) => ({ ...outcome, tenant, jobId: id })),
    ),
  )
  const count = (wanted: BulkItemState) => outcomes.filter(({ state }) => state === wanted).length
  await client.query(
    `UPDATE saga_bulk_jobs SET position = $3, done = done + $4, failed = failed + $5, undone = undone + $6,
       undo_failed = undo_failed + $7 WHERE tenant = $1 AND id = $2`,
    [
      tenant,
      id,
      outcomes.at(-1)?.position,
      count('done'),
      count('failed'),
      count('undone'),
      count('undo_failed'),
    ],
  )
}

/** Ends a job whose sagas have all been processed. */
export async function finishBulkJob(client: PoolClient, { tenant, id }: BulkLease): Promise<void> {
  await client.query(
    `UPDATE saga_bulk_jobs SET state = CASE state WHEN 'undoing' THEN 'undone' ELSE 'finished' END,
       finished_at = now(), active_user_id = NULL, ${ownerReleased}
     WHERE tenant = $1 AND id = $2`,
    [tenant, id],
  )
}
