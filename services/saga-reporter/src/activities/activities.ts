import type { Pooled } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { SagaKey } from '@switchyard/domain/saga'
import type { SagaPosition } from '../shapes/search.js'
import {
  findActivityPayload,
  listParkedActivities,
  type ParkedActivity,
  type PayloadKind,
  type StoredPayload,
} from './store.js'

/**
 * Returns a page of the activities whose saga no event has named, newest first.
 *
 * @param after the end of the previous page; null: the first page
 */
export async function listParked(
  database: Pooled,
  tenant: string,
  { after, take }: { after: SagaPosition | null; take: number },
): Promise<{ activities: ParkedActivity[]; next: SagaPosition | null }> {
  const found = await listParkedActivities(database, tenant, { after, take: take + 1 })
  const activities = found.slice(0, take)
  const last = activities.at(-1)
  const next = found.length > take && last ? { at: last.firstSeenAt, id: last.id } : null
  return { activities, next }
}

/**
 * Returns the stored payload of an activity.
 *
 * @throws DomainError not-found, with size and digest when the payload was too large to be stored
 */
export async function getPayload(
  database: Pooled,
  key: SagaKey & { activityId: string },
  kind: PayloadKind,
): Promise<StoredPayload> {
  const payload = await findActivityPayload(database, key, kind)
  if (!payload) throw notFound('Payload')
  const { size, sha256, bytes } = payload
  if (bytes.length === 0 && size > 0)
    throw notFound('Payload', { extra: { reason: 'not stored: too large', size, sha256 } })
  return payload
}
