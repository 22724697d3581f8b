import type { Pooled } from '@switchyard/db'
import {
  type Activity,
  type Saga,
  type SagaFlag,
  type SagaFlagKind,
  type SagaStatus,
  sagaStatuses,
} from '@switchyard/domain/saga'
import { activityTable, sagaTable } from '@switchyard/saga-store'
import { readRows, readRowsWithin, SqlParameters } from '../read-query.js'
import {
  afterPosition,
  driverOf,
  drivingTable,
  mayWalkErrors,
  orderBy,
  orderColumn,
  type SagaQuestion,
  sagaSource,
  upToPosition,
} from '../saga-source.js'
import { countedMax, type SagaOrder, type SagaPosition, type SagaSearch } from '../shapes/search.js'

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

/** Rows that one step reads, matching or not, so that a step is fast even when few sagas match. */
const stepRows = 2000

const newestFirst = { by: 'created_at', direction: 'desc' } as const

/**
 * Yields every saga of a search in batches, newest first. It holds neither a connection nor a snapshot
 * between batches, so a slow reader costs the database nothing. Sagas that are created later are newer, and
 * are not read.
 */
export async function* walkSagas(database: Pooled, search: SagaSearch): AsyncGenerator<SagaView[]> {
  let after: SagaPosition | null = null
  for (;;) {
    const until: SagaPosition | null = await findStepEnd(database, search, after)
    const sagas = await readStep(database, search, after, until)
    if (sagas.length > 0) yield sagas
    if (until === null) return
    after = until
  }
}

/** Returns the position at which the next step ends; null when fewer rows are left than one step has. */
async function findStepEnd(database: Pooled, search: SagaSearch, after: SagaPosition | null) {
  const parameters = new SqlParameters()
  const { table, id, where } = walked(search, parameters)
  const names = { time: 'd.first_seen_at', id: `d.${id}` }
  const { createdAfter, createdBefore } = search
  where.push(`d.tenant = ${parameters.add(search.tenant)}`)
  if (createdAfter) where.push(`d.first_seen_at >= ${parameters.add(createdAfter)}`)
  if (createdBefore) where.push(`d.first_seen_at <= ${parameters.add(createdBefore)}`)
  if (after) where.push(afterPosition(newestFirst, after, names, parameters))
  const text = `SELECT d.first_seen_at AS at, d.${id} AS id FROM ${table} d WHERE ${where.join(' AND ')}
    ORDER BY ${orderBy(newestFirst, names.time, names.id)} OFFSET ${stepRows - 1} LIMIT 1`
  const [end] = await readRows<{ at: Date; id: string }>(database, { text, values: parameters.values })
  return end ?? null
}

/** Returns the rows to count in a step: rows of one index that include every match of the search. */
function walked(
  search: SagaSearch,
  parameters: SqlParameters,
): { table: string; id: string; where: string[] } {
  const driver = driverOf(search)
  if (driver !== null) {
    const { table, where } = drivingTable(driver, search, parameters)
    return { table, id: 'saga_id', where }
  }
  const { serviceName, status, outcome } = search
  const equal = [
    { column: 'service_name', value: serviceName },
    { column: 'status', value: status },
    { column: 'outcome', value: outcome },
  ].find(({ value }) => value !== undefined)
  const where = equal ? [`d.${equal.column} = ${parameters.add(equal.value)}`] : []
  return { table: 'sagas', id: 'id', where }
}

async function readStep(
  database: Pooled,
  search: SagaSearch,
  after: SagaPosition | null,
  until: SagaPosition | null,
): Promise<SagaView[]> {
  const parameters = new SqlParameters()
  const { from, where, order } = sagaSource({ search, order: newestFirst, after }, parameters)
  if (until) {
    where.push(upToPosition(newestFirst, until, { time: 's.first_seen_at', id: 's.id' }, parameters))
  }
  const text = `SELECT ${sagaRowColumns} FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${order}`
  const rows = await readRows<SagaRow>(database, { text, values: parameters.values })
  return readSagaViews(database, rows)
}

const shownOfChild = ['id', 'serviceName', 'status', 'outcome', 'firstSeenAt', 'endedAt'] as const

export type SagaChild = Pick<Saga, (typeof shownOfChild)[number]>

export interface SagaChildren {
  /** The newest 100, newest first. */
  newest: SagaChild[]
  /** Number of all children by status, as {@link countSagas} counts them. */
  counts: Partial<Record<SagaStatus, number>> | null
}

const shownMax = 100

const childrenOfSaga = {
  name: 'saga-read-children',
  text: `SELECT ${sagaTable.listOf('s', shownOfChild)} FROM sagas s WHERE s.tenant = $1 AND s.parent_saga_id = $2
    ORDER BY s.first_seen_at DESC, s.id LIMIT ${shownMax + 1}`,
}

export async function listSagaChildren(
  database: Pooled,
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

const shownOfParked = [
  'id',
  'status',
  'firstSeenAt',
  'lastEventAt',
  'executeErrors',
  'compensateErrors',
] as const

export type ParkedActivity = Pick<Activity, (typeof shownOfParked)[number]>

/** Lists activities whose saga no event has named, newest first; at most `take`, after a position. */
export function listParkedActivities(
  database: Pooled,
  tenant: string,
  { after, take }: { after: SagaPosition | null; take: number },
): Promise<ParkedActivity[]> {
  const parameters = new SqlParameters()
  const where = [`a.tenant = ${parameters.add(tenant)}`, 'a.saga_id IS NULL']
  if (after) {
    const at = parameters.add(after.at)
    where.push(`a.first_seen_at <= ${at}`, `(a.first_seen_at < ${at} OR a.id < ${parameters.add(after.id)})`)
  }
  const text = `SELECT ${activityTable.listOf('a', shownOfParked)} FROM saga_activities a WHERE ${where.join(' AND ')}
    ORDER BY a.first_seen_at DESC, a.id DESC LIMIT ${parameters.add(take)}`
  return readRows<ParkedActivity>(database, { text, values: parameters.values })
}
