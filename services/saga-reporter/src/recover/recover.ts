import type { Pooled } from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import { findSaga, type SagaWithActivities } from '../read/read.js'
import type { LeaseKey, LeaseResolution, SagaClaim, SagaLeaseGrant } from './store.js'
import * as store from './store.js'

/** A saga that was leased to a worker. */
export interface ClaimedSaga {
  grant: SagaLeaseGrant
  /** Null when the saga was removed meanwhile. */
  found: SagaWithActivities | null
}

/** Leases sagas whose orchestrator has stopped, and returns them with all their data. */
export async function claimSagas(database: Pooled, wanted: SagaClaim): Promise<ClaimedSaga[]> {
  const grants = await store.claimSagas(database, wanted)
  const claimed: ClaimedSaga[] = []
  // The connections store events, too, so the sagas are read one after the other.
  for (const grant of grants) {
    const found = await findSaga(database, { tenant: wanted.tenant, sagaId: grant.sagaId })
    claimed.push({ grant, found })
  }
  return claimed
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
