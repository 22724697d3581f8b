import type { Pooled } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { SagaKey } from '@switchyard/domain/saga'
import { type ActivityPosition, type ActivityView, listActivityViews } from '../activities/store.js'
import { listSagaNotes, type SagaNote } from '../resolve/store.js'
import type { SagaView } from '../saga-view-store.js'
import {
  findResolutionNote,
  findSagaView,
  listSagaChildren,
  listSagaDeployments,
  type SagaChildren,
  type SagaDeployment,
} from './store.js'

export type { SagaChild, SagaChildren } from './store.js'

export interface SagaWithActivities {
  saga: SagaView
  activities: ActivityView[]
}

/** Bytes of each payload that are shown with its saga. */
const headBytesMax = 16 * 1024

/** Finds a saga with all its activities; null when there is no such saga. */
export const findSaga = (database: Pooled, key: SagaKey): Promise<SagaWithActivities | null> =>
  findWithActivities(database, key, { after: null, take: null })

async function findWithActivities(
  database: Pooled,
  key: SagaKey,
  rows: { after: ActivityPosition | null; take: number | null },
): Promise<SagaWithActivities | null> {
  const [saga, activities] = await Promise.all([
    findSagaView(database, key),
    listActivityViews(database, key, headBytesMax, rows),
  ])
  return saga && { saga, activities }
}

/** Most activities of a saga in one answer. */
const activitiesMax = 1_000

/** A saga with a page of its activities. */
export interface SagaPage extends SagaWithActivities {
  /** The start of the next page of activities; null on the last one. */
  next: ActivityPosition | null
}

export interface SagaDetail extends SagaPage {
  notes: SagaNote[]
  /** The newest deployments that name the saga. */
  deployments: SagaDeployment[]
  /** The sagas that name the saga as their parent. */
  children: SagaChildren
  /** The note of the operator who last resolved the saga. */
  resolutionNote: string | null
}

/**
 * Returns a saga with a page of its activities.
 *
 * @param after the end of the previous page; null: the first page
 * @throws DomainError not-found
 */
export async function getSaga(
  database: Pooled,
  key: SagaKey,
  after: ActivityPosition | null,
): Promise<SagaPage> {
  const found = await findWithActivities(database, key, { after, take: activitiesMax + 1 })
  if (!found) throw notFound('Saga')
  const activities = found.activities.slice(0, activitiesMax)
  const hasMore = found.activities.length > activitiesMax
  return { saga: found.saga, activities, next: (hasMore && activities.at(-1)) || null }
}

/**
 * Returns a saga with all related data except its log.
 *
 * @param after the end of the previous page of activities; null: the first page
 * @throws DomainError not-found
 */
export async function getSagaDetail(
  database: Pooled,
  key: SagaKey,
  after: ActivityPosition | null,
): Promise<SagaDetail> {
  const [found, notes, deployments, children] = await Promise.all([
    getSaga(database, key, after),
    listSagaNotes(database, key),
    listSagaDeployments(database, key),
    listSagaChildren(database, key),
  ])
  const { resolvedAt } = found.saga
  const resolutionNote = resolvedAt && (await findResolutionNote(database, key, resolvedAt))
  return { ...found, notes, deployments, children, resolutionNote }
}
