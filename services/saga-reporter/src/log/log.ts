import type { Pooled } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { SagaKey } from '@switchyard/domain/saga'
import { hasSaga } from '../read/store.js'
import { listSagaEvents, type SagaEventView } from './store.js'

/**
 * Returns a page of the log of a saga, in order.
 *
 * @param after the `seq` of the last event of the previous page; 0: the first page
 * @throws DomainError not-found
 */
export async function listEvents(
  database: Pooled,
  key: SagaKey,
  { after, take }: { after: number; take: number },
): Promise<{ events: SagaEventView[]; hasMore: boolean }> {
  const [isKnown, events] = await Promise.all([
    hasSaga(database, key),
    listSagaEvents(database, key, { after, take: take + 1 }),
  ])
  if (!isKnown) throw notFound('Saga')
  return { events: events.slice(0, take), hasMore: events.length > take }
}
