import type { Pooled } from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import { type ActivityPage, readActivityPages } from '../read/read.js'
import { findSagaView } from '../read/store.js'
import type { SagaView } from '../saga-view-store.js'
import type { LeaseKey, LeaseResolution, SagaClaim, SagaLeaseGrant } from './store.js'
import * as store from './store.js'

/** A saga that was leased to a worker. */
export interface ClaimedSaga {
  grant: SagaLeaseGrant
  /** Null when the saga was removed meanwhile. */
  saga: SagaView | null
  /** Its activities, of which each page is read when it is wanted. */
  pages: AsyncIterable<ActivityPage>
}

/** Activities that are read at a time, so that large sagas with large payloads take little memory. */
const pageSize = 500

/**
 * Leases sagas whose orchestrator has stopped, and adds them to an answer one after the other. When a saga
 * does not fit, it and those after it can be leased again at once, and this attempt does not count.
 *
 * @param add returns false when the saga does not fit
 */
export async function claimSagas(
  database: Pooled,
  wanted: SagaClaim,
  add: (claimed: ClaimedSaga) => Promise<boolean>,
): Promise<void> {
  const grants = await store.claimSagas(database, wanted)
  // The connections store events, too, so the sagas are read one after the other.
  for (const [index, grant] of grants.entries()) {
    const key = { tenant: wanted.tenant, sagaId: grant.sagaId }
    const saga = await findSagaView(database, key)
    if (await add({ grant, saga, pages: readActivityPages(database, key, pageSize) })) continue
    const left = grants.slice(index).map(({ token }) => token)
    return store.returnLeases(database, left)
  }
}

/**
 * Extends a lease and returns its new end.
 *
 * @param key null: no lease can have this key
 * @throws DomainError invalid when the lease has ended
 */
export async function extendLease(database: Pooled, key: LeaseKey | null, seconds: number): Promise<Date> {
  const leasedUntil = key === null ? null : await store.extendLease(database, key, seconds)
  if (!leasedUntil) throw leaseOver()
  return leasedUntil
}

/**
 * Ends a lease and returns the time from which the saga may be leased again.
 *
 * @param key null: no lease can have this key
 * @throws DomainError invalid when the lease has ended
 */
export async function completeLease(
  database: Pooled,
  key: LeaseKey | null,
  outcome: { resolution: LeaseResolution; note: string | null },
): Promise<Date> {
  const availableAt = key === null ? null : await store.resolveLease(database, key, outcome)
  if (!availableAt) throw leaseOver()
  return availableAt
}

const leaseOver = () => invalid('this lease has ended')
