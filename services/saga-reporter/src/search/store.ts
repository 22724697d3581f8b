import { type Pooled, readRowsWithin } from '@switchyard/db'
import { SqlParameters } from '@switchyard/db/sql'
import {
  type Saga,
  type SagaFlag,
  type SagaFlagKind,
  type SagaStatus,
  sagaStatuses,
} from '@switchyard/domain/saga'
import { sagaTable } from '@switchyard/saga-store'
import { readRows } from '../limited-database.js'
import { countedMax, type SagaOrder, type SagaPosition, type SagaSearch } from '../shapes/search.js'
import { mayWalkErrors, orderColumn, type SagaQuestion, sagaSource } from './source.js'

export {
  afterPosition,
  driverOf,
  drivingTable,
  lastActivityEvent,
  lastEvent,
  orderBy,
  sagaSource,
  upToPosition,
} from './source.js'

/** The data of a saga that is stored in other tables. */
export interface SagaDetails {
  /** The latest event of its activities; null without any. */
  lastEventAt: Date | null
  tags: string[]
  flags: SagaFlag[]
}

type DetailRow = { sagaId: string; time: Date | null } & (
  | { what: 'event' }
  | { what: 'tag'; text: string }
  | { what: 'flag'; text: SagaFlagKind; activityId: string }
)

const of = (alias: string) => `${alias}.tenant = $1 AND ${alias}.saga_id = ANY($2::text[])`

/** One look-up in each index for all sagas of a page takes half as long as one look-up for each saga. */
const details = {
  name: 'saga-read-details',
  text: `SELECT a.saga_id AS "sagaId", 'event' AS what, NULL AS text, NULL AS "activityId", max(a.last_event_at) AS time
      FROM saga_activities a WHERE ${of('a')} GROUP BY a.saga_id
    UNION ALL
    SELECT t.saga_id, 'tag', t.tag, NULL, NULL FROM saga_tags t WHERE ${of('t')}
    UNION ALL
    SELECT f.saga_id, 'flag', f.kind, f.activity_id, f.since FROM saga_flags f WHERE ${of('f')}`,
}

/** Reads details by the ids of the sagas; sagas without details are missing. */
export async function readSagaDetails(
  database: Pooled,
  tenant: string,
  sagaIds: readonly string[],
): Promise<Map<string, SagaDetails>> {
  const found = new Map<string, SagaDetails>()
  if (sagaIds.length === 0) return found
  for (const row of await readRows<DetailRow>(database, { ...details, values: [tenant, sagaIds] })) {
    let saga = found.get(row.sagaId)
    if (!saga) {
      saga = { lastEventAt: null, tags: [], flags: [] }
      found.set(row.sagaId, saga)
    }
    add(row, saga)
  }
  for (const { tags, flags } of found.values()) {
    tags.sort()
    flags.sort((a, b) => compare(a.kind, b.kind) || compare(a.activityId ?? '', b.activityId ?? ''))
  }
  return found
}

function add(row: DetailRow, saga: SagaDetails): void {
  if (row.what === 'tag') saga.tags.push(row.text)
  else if (row.what === 'event') saga.lastEventAt = row.time
  else if (row.time) saga.flags.push({ kind: row.text, activityId: row.activityId || null, since: row.time })
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const shownOfSaga = [
  'id',
  'serviceName',
  'status',
  'outcome',
  'late',
  'addTime',
  'startedAt',
  'endedAt',
  'expiresAt',
  'resolvedAt',
  'resolvedBy',
  'parentSagaId',
  'firstSeenAt',
  'lastEventAt',
] as const satisfies (keyof Saga)[]

/** A row that {@link sagaRowColumns} select. */
export interface SagaRow extends Pick<Saga, (typeof shownOfSaga)[number]> {
  tenant: string
}

/** A saga for readers; `lastEventAt` is the latest event of the saga or of one of its activities. */
export interface SagaView extends SagaRow {
  tags: string[]
  flags: SagaFlag[]
}

/** The selected columns of a row `s` of sagas. */
export const sagaRowColumns = `s.tenant, ${sagaTable.listOf('s', shownOfSaga)}`

/** Adds the details from other tables to rows of one tenant. */
export async function readSagaViews(database: Pooled, rows: readonly SagaRow[]): Promise<SagaView[]> {
  const [first] = rows
  if (!first) return []
  const details = await readSagaDetails(
    database,
    first.tenant,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => toSagaView(row, details.get(row.id)))
}

export function toSagaView(row: SagaRow, details: SagaDetails | undefined): SagaView {
  const { lastEventAt, tags, flags } = details ?? { lastEventAt: null, tags: [], flags: [] }
  const last = lastEventAt && lastEventAt > row.lastEventAt ? lastEventAt : row.lastEventAt
  return { ...row, lastEventAt: last, tags, flags }
}

type PositionedRow = SagaRow & { position: Date | null }

/** Reads one page of the sagas of a search, in order. */
export async function searchSagas(
  database: Pooled,
  question: SagaQuestion,
  take: number,
): Promise<{ sagas: SagaView[]; next: SagaPosition | null }> {
  const read = (errors: 'all' | 'walk') =>
    readRows<PositionedRow>(database, pageQuery(question, take, errors))
  let rows = mayWalkErrors(question) ? await read('walk') : await read('all')
  if (rows.length <= take && mayWalkErrors(question)) rows = await read('all')
  const page = rows.slice(0, take)
  const last = page.at(-1)
  return {
    sagas: await readSagaViews(
      database,
      page.map(({ position: _, ...row }) => row),
    ),
    next: rows.length > take && last ? { at: last.position, id: last.id } : null,
  }
}

/** Returns the query of a page. It reads one more row, to know whether there is another page. */
function pageQuery(question: SagaQuestion, take: number, errors: 'all' | 'walk') {
  const parameters = new SqlParameters()
  const { from, where, order } = sagaSource(question, parameters, errors)
  const time = orderColumn(question.order)
  const position = time === null ? 'NULL::timestamptz' : `s.${time}`
  const text = `SELECT ${sagaRowColumns}, ${position} AS position FROM ${from}
    WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT ${parameters.add(take + 1)}`
  return { text, values: parameters.values }
}

/** Time limit of counting. */
const countingMs = 2000

/**
 * Counts the sagas of a search by status, ignoring its own status filter. It counts at most {@link
 * countedMax} of each status, and one more when there are more. Null when counting took too long.
 */
export async function countSagas(
  database: Pooled,
  search: SagaSearch,
): Promise<Record<SagaStatus, number> | null> {
  const parameters = new SqlParameters()
  const order: SagaOrder = { by: 'id', direction: 'asc' }
  const statuses = parameters.add(sagaStatuses)
  const { from, where } = sagaSource({ search: { ...search, status: undefined }, order }, parameters)
  const matching = [...where, 's.status = wanted.status'].join(' AND ')
  const text = `SELECT wanted.status, (SELECT count(*)::integer FROM (
      SELECT FROM ${from} WHERE ${matching} LIMIT ${countedMax + 1}) counted) AS count
    FROM unnest(${statuses}::text[]) AS wanted(status)`
  const rows = await readRowsWithin<{ status: SagaStatus; count: number }>(database, countingMs, {
    text,
    values: parameters.values,
  })
  return (
    rows &&
    (Object.fromEntries(rows.map(({ status, count }) => [status, count])) as Record<SagaStatus, number>)
  )
}
