import type { Saga, SagaStatus } from '@switchyard/domain/saga'
import { sagaTable } from '../tables/sagas.js'
import { countSagas } from './list-sagas.js'
import { type Readable, readRows } from './read-query.js'

const shown = ['id', 'serviceName', 'status', 'outcome', 'firstSeenAt', 'endedAt'] as const

export type SagaChild = Pick<Saga, (typeof shown)[number]>

export interface SagaChildren {
  /** The newest 100, the newest first. */
  newest: SagaChild[]
  /** How many of all children have each status, as {@link countSagas} counts them. */
  counts: Partial<Record<SagaStatus, number>> | null
}

const shownMax = 100

const childrenOfSaga = {
  name: 'saga-read-children',
  text: `SELECT ${sagaTable.listOf('s', shown)} FROM sagas s WHERE s.tenant = $1 AND s.parent_saga_id = $2
    ORDER BY s.first_seen_at DESC, s.id LIMIT ${shownMax + 1}`,
}

/** The sagas that name a saga as their parent. */
export async function listSagaChildren(
  database: Readable,
  tenant: string,
  parentSagaId: string,
): Promise<SagaChildren> {
  const rows = await readRows<SagaChild>(database, { ...childrenOfSaga, values: [tenant, parentSagaId] })
  const newest = rows.slice(0, shownMax)
  if (rows.length > shownMax) return { newest, counts: await countSagas(database, { tenant, parentSagaId }) }
  const counts: Partial<Record<SagaStatus, number>> = {}
  for (const { status } of newest) counts[status] = (counts[status] ?? 0) + 1
  return { newest, counts }
}
