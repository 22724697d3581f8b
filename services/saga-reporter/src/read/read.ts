import type { Pooled } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { listSagaNotes, type SagaNote } from '../resolve/store.js'
import { countedMax, type SagaOrder, type SagaPosition, type SagaSearch } from '../shapes/search.js'
import {
  type ActivityPosition,
  type ActivityView,
  findActivityPayload,
  listActivityViews,
  type PayloadKind,
  type StoredPayload,
} from './activities-store.js'
import {
  findResolutionNote,
  findSagaView,
  hasSaga,
  listSagaDeployments,
  listSagaEvents,
  type SagaDeployment,
  type SagaEventView,
} from './detail-store.js'
import {
  countSagas,
  listParkedActivities,
  listSagaChildren,
  type ParkedActivity,
  type SagaChildren,
  type SagaView,
  searchSagas,
  walkSagas,
} from './list-store.js'

export type { ActivityPosition, ActivityView, ErrorText, PayloadHead } from './activities-store.js'
export type { SagaChild, SagaChildren, SagaView } from './list-store.js'

export interface SagaKey {
  tenant: string
  sagaId: string
}

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
    findSagaView(database, key.tenant, key.sagaId),
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
    listSagaNotes(database, key.tenant, key.sagaId),
    listSagaDeployments(database, key.tenant, key.sagaId),
    listSagaChildren(database, key.tenant, key.sagaId),
  ])
  const { resolvedAt } = found.saga
  const resolutionNote = resolvedAt && (await findResolutionNote(database, key, resolvedAt))
  return { ...found, notes, deployments, children, resolutionNote }
}

export interface SagaListRequest {
  search: SagaSearch
  order: SagaOrder
  /** The end of the previous page; null: the first page. */
  after: SagaPosition | null
  take: number
  withCounts: boolean
}

export interface SagaList {
  sagas: SagaView[]
  /** The start of the next page; null on the last page. */
  next: SagaPosition | null
  /** Null when counting took too long, undefined when it was not requested. */
  counts: StatusCounts | null | undefined
}

/** Sagas of each status; `more`: there are more than `count`. */
export type StatusCounts = { status: string; count: number; more: boolean }[]

export async function listSagas(database: Pooled, request: SagaListRequest): Promise<SagaList> {
  const { search, order, after, take, withCounts } = request
  const [{ sagas, next }, counts] = await Promise.all([
    searchSagas(database, { search, order, after }, take),
    withCounts ? countStatuses(database, search) : undefined,
  ])
  return { sagas, next, counts }
}

/**
 * Reads every saga of a search in batches, newest first. It reads the first batch before the promise
 * resolves, so that an unavailable database can still be answered with a refusal.
 */
export async function readAllSagas(
  database: Pooled,
  search: SagaSearch,
): Promise<AsyncGenerator<SagaView[], void>> {
  const batches = walkSagas(database, search)
  const first = await batches.next()
  return (async function* () {
    if (first.done) return
    yield first.value
    yield* batches
  })()
}

async function countStatuses(database: Pooled, search: SagaSearch): Promise<StatusCounts | null> {
  const counts = await countSagas(database, search)
  if (counts === null) return null
  return Object.entries(counts).map(([status, count]) => ({
    status,
    count: Math.min(count, countedMax),
    more: count > countedMax,
  }))
}

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
    hasSaga(database, key.tenant, key.sagaId),
    listSagaEvents(database, key, { after, take: take + 1 }),
  ])
  if (!isKnown) throw notFound('Saga')
  return { events: events.slice(0, take), hasMore: events.length > take }
}

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
