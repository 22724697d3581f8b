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

/** Bytes of each payload that are shown with its saga. */
const headBytesMax = 16 * 1024

export interface ActivityPage {
  activities: ActivityView[]
  /** The start of the next page; null on the last one. */
  next: ActivityPosition | null
}

async function readActivityPage(
  database: Pooled,
  key: SagaKey,
  { after, take }: { after: ActivityPosition | null; take: number },
): Promise<ActivityPage> {
  const found = await listActivityViews(database, key, headBytesMax, { after, take: take + 1 })
  const activities = found.slice(0, take)
  return { activities, next: (found.length > take && activities.at(-1)) || null }
}

/** Reads the activities of a saga page by page, each page when the caller asks for it. */
export async function* readActivityPages(
  database: Pooled,
  key: SagaKey,
  take: number,
): AsyncGenerator<ActivityPage> {
  let after: ActivityPosition | null = null
  do {
    const page: ActivityPage = await readActivityPage(database, key, { after, take })
    yield page
    after = page.next
  } while (after)
}

/** Most activities of a saga in one answer. */
const activitiesMax = 1_000

/** A saga with a page of its activities. */
export interface SagaPage extends ActivityPage {
  saga: SagaView
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
  const [saga, page] = await Promise.all([
    findSagaView(database, key),
    readActivityPage(database, key, { after, take: activitiesMax }),
  ])
  if (!saga) throw notFound('Saga')
  return { saga, ...page }
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
