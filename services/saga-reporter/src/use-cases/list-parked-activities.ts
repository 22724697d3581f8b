import {
  listParkedActivities as listParked,
  type ParkedActivity,
  type Readable,
  type SagaPosition,
} from '@switchyard/db'

/**
 * A page of the activities whose saga no event has named, the newest first.
 *
 * @param after where the page before ended; null: the first page
 */
export async function listParkedActivities(
  database: Readable,
  tenant: string,
  { after, take }: { after: SagaPosition | null; take: number },
): Promise<{ activities: ParkedActivity[]; next: SagaPosition | null }> {
  const found = await listParked(database, tenant, { after, take: take + 1 })
  const activities = found.slice(0, take)
  const last = activities.at(-1)
  const next = found.length > take && last ? { at: last.firstSeenAt, id: last.id } : null
  return { activities, next }
}
