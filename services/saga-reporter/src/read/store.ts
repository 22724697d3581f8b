import type { Pooled } from '@switchyard/db'
import type { Saga, SagaKey, SagaStatus } from '@switchyard/domain/saga'
import { sagaTable } from '@switchyard/saga-store'
import { readRows } from '../limited-database.js'
import {
  readSagaDetails,
  type SagaRow,
  type SagaView,
  sagaRowColumns,
  toSagaView,
} from '../saga-view-store.js'
import { countSagas } from '../search/store.js'

const oneSaga = {
  name: 'saga-read-one',
  text: `SELECT ${sagaRowColumns} FROM sagas s WHERE s.tenant = $1 AND s.id = $2`,
}

/** Finds one saga for readers. */
export async function findSagaView(database: Pooled, { tenant, sagaId }: SagaKey): Promise<SagaView | null> {
  const [[row], details] = await Promise.all([
    readRows<SagaRow>(database, { ...oneSaga, values: [tenant, sagaId] }),
    readSagaDetails(database, tenant, [sagaId]),
  ])
  return row ? toSagaView(row, details.get(sagaId)) : null
}

const anySaga = { name: 'saga-read-exists', text: 'SELECT FROM sagas WHERE tenant = $1 AND id = $2' }

export async function hasSaga(database: Pooled, { tenant, sagaId }: SagaKey): Promise<boolean> {
  const rows = await readRows(database, { ...anySaga, values: [tenant, sagaId] })
  return rows.length > 0
}

/**
 * A deployment that names a saga. Its other fields are hidden, because readers of sagas may not see the
 * project.
 */
export interface SagaDeployment {
  id: number
  projectId: number
  /** Name of the environment. */
  environment: string
  status: string
}

const deploymentsMax = 100

const deploymentsOfSaga = {
  name: 'saga-read-deployments',
  text: `SELECT d.id, d.project_id AS "projectId", e.name AS environment, d.status FROM deployments d
    JOIN environments e ON e.project_id = d.project_id AND e.id = d.environment_id
    WHERE d.saga_tenant = $1 AND d.saga_id = $2 ORDER BY d.id DESC LIMIT ${deploymentsMax}`,
}

/** Lists the newest 100 deployments that name a saga, newest first. */
export const listSagaDeployments = (
  database: Pooled,
  { tenant, sagaId }: SagaKey,
): Promise<SagaDeployment[]> =>
  readRows<SagaDeployment>(database, { ...deploymentsOfSaga, values: [tenant, sagaId] })

const lastResolution = {
  name: 'saga-read-resolution',
  text: `SELECT e.request FROM saga_events e
    WHERE e.tenant = $1 AND e.saga_id = $2 AND e.operation = 'OperatorResolved'
      AND e.received_at <= $3 ORDER BY e.id DESC LIMIT 1`,
}

/**
 * Finds the note of the operator who resolved a saga at this time; null when the log no longer has that
 * event. Later resolutions have been undone.
 */
export async function findResolutionNote(
  database: Pooled,
  { tenant, sagaId }: SagaKey,
  resolvedAt: Date,
): Promise<string | null> {
  const [event] = await readRows<{ request: Buffer }>(database, {
    ...lastResolution,
    values: [tenant, sagaId, resolvedAt],
  })
  const note: unknown = event && JSON.parse(event.request.toString()).note
  return typeof note === 'string' ? note : null
}

const shownOfChild = ['id', 'serviceName', 'status', 'outcome', 'firstSeenAt', 'endedAt'] as const

export type SagaChild = Pick<Saga, (typeof shownOfChild)[number]>

export interface SagaChildren {
  /** The newest 100, newest first. */
  newest: SagaChild[]
  /** Number of all children by status, as {@link countSagas} counts them. */
  counts: Partial<Record<SagaStatus, number>> | null
}

const childrenMax = 100

const childrenOfSaga = {
  name: 'saga-read-children',
  text: `SELECT ${sagaTable.listOf('s', shownOfChild)} FROM sagas s WHERE s.tenant = $1 AND s.parent_saga_id = $2
    ORDER BY s.first_seen_at DESC, s.id LIMIT ${childrenMax + 1}`,
}

export async function listSagaChildren(database: Pooled, { tenant, sagaId }: SagaKey): Promise<SagaChildren> {
  const rows = await readRows<SagaChild>(database, { ...childrenOfSaga, values: [tenant, sagaId] })
  const newest = rows.slice(0, childrenMax)
  if (rows.length > childrenMax)
    return { newest, counts: await countSagas(database, { tenant, parentSagaId: sagaId }) }
  const counts: Partial<Record<SagaStatus, number>> = {}
  for (const { status } of newest) counts[status] = (counts[status] ?? 0) + 1
  return { newest, counts }
}
