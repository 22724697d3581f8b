import type { PoolClient } from '@switchyard/db'
import { queryOf, type Write } from '@switchyard/db/sql'
import type { Activity } from '@switchyard/domain/saga'
import { byKey } from '../keys.js'
import { WriteConflict } from '../retry-conflicts.js'
import {
  type ActivityErrors,
  activityTable,
  type Change,
  hasNewErrors,
  insertEventIds,
  insertEvents,
  insertTags,
  type SagaTag,
  sagaTable,
  upsertErrors,
} from '../tables.js'
import type { FoldedBatch } from './fold-batch.js'

/**
 * Writes the result of a batch: first the new rows, each table in the order of its keys, then the rows that
 * the transaction has locked, and last the log, so that no transaction waits for locks after it has drawn an
 * id of the log.
 *
 * @returns the highest id of the batch in the log; null when the batch adds nothing to the log
 * @throws WriteConflict when a new row exists already; the transaction must be rolled back
 */
export async function writeBatch(client: PoolClient, batch: FoldedBatch): Promise<string | null> {
  const { logged, sagas, activities } = batch
  const eventIds = logged.flatMap(({ received: { tenant, eventId } }) =>
    eventId === null ? [] : [{ tenant, id: eventId }],
  )
  await insertNew(client, insertEventIds, eventIds.sort(byKey))
  const isNew = ({ before }: Change<unknown>) => before === null
  const isStored = ({ before }: Change<unknown>) => before !== null
  await insertNew(client, sagaTable.insert, sagas.filter(isNew).sort(byRowKey))
  await insertNew(client, activityTable.insert, activities.filter(isNew).sort(byRowKey))
  await writeAll(client, sagaTable.update, sagas.filter(isStored))
  await writeAll(client, activityTable.update, activities.filter(isStored))
  await writeAll(client, upsertErrors, newErrors(batch))
  await writeAll(client, insertTags, newTags(batch))
  const written = await writeAll<(typeof logged)[number], { id: string }>(client, insertEvents, logged)
  return written?.rows.at(-1)?.id ?? null
}

const byRowKey = <Row extends { id: string }>(a: Change<Row>, b: Change<Row>): number =>
  byKey({ tenant: a.tenant, id: a.row.id }, { tenant: b.tenant, id: b.row.id })

async function insertNew<Item>(
  client: PoolClient,
  insert: Write<Item>,
  items: readonly Item[],
): Promise<void> {
  const written = await writeAll(client, insert, items)
  if (written && written.rowCount !== items.length)
    throw new WriteConflict('another transaction has inserted the same saga, activity or event')
}

/** Writes rows. @returns null when there are no rows to write */
const writeAll = async <Item, Row extends object = object>(
  client: PoolClient,
  write: Write<Item>,
  items: readonly Item[],
) => (items.length === 0 ? null : client.query<Row>(queryOf(write, items)))

function newErrors({ activities, findSaga }: FoldedBatch): ActivityErrors[] {
  return activities.flatMap(({ tenant, before, row }: Change<Activity>) => {
    if (row.sagaId === null || !hasNewErrors(before, row)) return []
    const sagaFirstSeenAt = findSaga(tenant, row.sagaId)?.firstSeenAt ?? row.firstSeenAt
    return [{ tenant, activity: row, sagaFirstSeenAt }]
  })
}

/**
 * Returns the new tags. Tags belong to the saga, so tags of events that belong to no saga yet are omitted.
 */
function newTags({ logged, findSaga }: FoldedBatch): SagaTag[] {
  return logged.flatMap(({ received: { tenant, tags, receivedAt }, sagaId }) => {
    if (!tags || sagaId === null) return []
    const sagaFirstSeenAt = findSaga(tenant, sagaId)?.firstSeenAt ?? receivedAt
    return tags.map((tag) => ({ tenant, sagaId, tag, sagaFirstSeenAt }))
  })
}
