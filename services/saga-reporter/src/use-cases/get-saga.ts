import {
  type ActivityView,
  findResolutionNote,
  findSagaView,
  listActivityViews,
  listSagaChildren,
  listSagaDeployments,
  listSagaNotes,
  type Readable,
  type SagaChildren,
  type SagaDeployment,
  type SagaNote,
  type SagaView,
} from '@switchyard/db'
import { notFound } from '@switchyard/domain'

export interface SagaKey {
  tenant: string
  sagaId: string
}

export interface SagaWithActivities {
  saga: SagaView
  activities: ActivityView[]
}

export interface SagaDetail extends SagaWithActivities {
  notes: SagaNote[]
  /** The newest deployments that name the saga. */
  deployments: SagaDeployment[]
  /** The sagas that name the saga as their parent. */
  children: SagaChildren
  /** The note of the operator who resolved the saga last. */
  resolutionNote: string | null
}

/** Bytes of each payload that are shown with its saga. */
const headBytesMax = 16 * 1024

/** A saga with its activities; null when there is no such saga. */
export async function findSaga(database: Readable, key: SagaKey): Promise<SagaWithActivities | null> {
  const [saga, activities] = await Promise.all([
    findSagaView(database, key.tenant, key.sagaId),
    listActivityViews(database, key, headBytesMax),
  ])
  return saga && { saga, activities }
}

/**
 * A saga with its activities.
 *
 * @throws DomainError not-found
 */
export async function getSaga(database: Readable, key: SagaKey): Promise<SagaWithActivities> {
  const found = await findSaga(database, key)
  if (!found) throw notFound('Saga')
  return found
}

/**
 * A saga with everything that belongs to it, except its log.
 *
 * @throws DomainError not-found
 */
export async function getSagaDetail(database: Readable, key: SagaKey): Promise<SagaDetail> {
  const [found, notes, deployments, children] = await Promise.all([
    getSaga(database, key),
    listSagaNotes(database, key.tenant, key.sagaId),
    listSagaDeployments(database, key.tenant, key.sagaId),
    listSagaChildren(database, key.tenant, key.sagaId),
  ])
  const { resolvedAt } = found.saga
  const resolutionNote = resolvedAt && (await findResolutionNote(database, key, resolvedAt))
  return { ...found, notes, deployments, children, resolutionNote }
}
