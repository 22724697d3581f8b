import { likeText, type SqlParameters } from '@switchyard/db/sql'
import { activityEventNotedAfterMs, type SagaFlagKind, sagaFlagKinds } from '@switchyard/domain/saga'
import { lastActivityEvent, lastEvent } from './saga-view-store.js'
import { type SagaOrder, type SagaPosition, type SagaSearch, searchedIdsMax } from './shapes/search.js'

/** The part of a search that another table answers, in the order of its rows. */
type Driver = { flag: SagaFlagKind } | 'tag' | 'fingerprint' | 'errors' | 'id' | null

/** The true time of the last event may be this much later than the stored one. */
const staleness = `interval '${activityEventNotedAfterMs} ms'`

/** Conditions in SQL, with `?` in place of the value. */
const plain: [keyof SagaSearch, string][] = [
  ['serviceName', 's.service_name = ?'],
  ['status', 's.status = ?'],
  ['outcome', 's.outcome = ?'],
  ['parentSagaId', 's.parent_saga_id = ?'],
  ['createdAfter', 's.first_seen_at >= ?'],
  ['createdBefore', 's.first_seen_at <= ?'],
  ['endedAfter', 's.ended_at >= ?'],
  ['endedBefore', 's.ended_at <= ?'],
  ['updatedAfter', `s.last_event_at >= ?::timestamptz - ${staleness}`],
  // The activities are read only when the stored time does not decide.
  ['updatedAfter', `(s.last_event_at >= ? OR ${lastActivityEvent} >= ?)`],
  ['updatedBefore', 's.last_event_at <= ?'],
  ['updatedBefore', `(s.last_event_at < ?::timestamptz - ${staleness} OR ${lastEvent} <= ?)`],
  // A saga is created before it is updated, so a scan from the newest saga may begin at this time.
  ['updatedBefore', 's.first_seen_at <= ?'],
]

const exists = (found: boolean, subquery: string) => `${found ? '' : 'NOT '}EXISTS (SELECT FROM ${subquery})`

const errorsExist = (condition: string) =>
  exists(true, `saga_errors e WHERE e.tenant = s.tenant AND e.saga_id = s.id AND ${condition}`)

/** Returns the conditions for a row `s` of sagas, without those that the driver has applied. */
function conditionsOf(search: SagaSearch, driver: Driver, parameters: SqlParameters): string[] {
  const { late, tag, idPrefix, idContains, fingerprint, errorsContain } = search
  const conditions = [`s.tenant = ${parameters.add(search.tenant)}`]
  for (const [key, sql] of plain) {
    if (search[key] !== undefined) conditions.push(sql.replaceAll('?', parameters.add(search[key])))
  }
  if (late !== undefined) conditions.push(late ? 's.late' : 'NOT s.late')
  if (idPrefix !== undefined) conditions.push(`s.id LIKE ${parameters.add(`${likeText(idPrefix)}%`)}`)
  if (idContains !== undefined && driver !== 'id')
    conditions.push(containsText('s.id', idContains, parameters))
  if (tag !== undefined && driver !== 'tag') {
    const given = parameters.add(tag)
    conditions.push(
      exists(true, `saga_tags t WHERE t.tenant = s.tenant AND t.saga_id = s.id AND t.tag = ${given}`),
    )
  }
  if (fingerprint !== undefined && driver !== 'fingerprint') {
    const given = parameters.add(fingerprint)
    conditions.push(errorsExist(`e.fingerprint = ${given}`))
  }
  if (errorsContain !== undefined && driver !== 'errors') {
    const pattern = parameters.add(containsPattern(errorsContain))
    conditions.push(errorsExist(`e.folded LIKE lower(${pattern})`))
  }
  return [...conditions, ...flagConditions(search, driver, parameters)]
}

function flagConditions({ flags = {} }: SagaSearch, driver: Driver, parameters: SqlParameters): string[] {
  const driving = typeof driver === 'object' ? driver?.flag : undefined
  return sagaFlagKinds.flatMap((kind) => {
    const wanted = flags[kind]
    if (wanted === undefined || kind === driving) return []
    const given = parameters.add(kind)
    return exists(wanted, `saga_flags f WHERE f.tenant = s.tenant AND f.kind = ${given} AND f.saga_id = s.id`)
  })
}

const containsPattern = (text: string): string => `%${likeText(text)}%`

/** Returns the condition that a column contains a text; case does not matter. */
const containsText = (column: string, text: string, parameters: SqlParameters): string =>
  `lower(${column}) LIKE lower(${parameters.add(containsPattern(text))})`

/** Returns the most selective part of a search that has its own table. */
export function driverOf({ flags = {}, tag, fingerprint, errorsContain, idContains }: SagaSearch): Driver {
  const flag = sagaFlagKinds.find((kind) => flags[kind])
  if (flag) return { flag }
  if (tag !== undefined) return 'tag'
  if (fingerprint !== undefined) return 'fingerprint'
  if (errorsContain !== undefined) return 'errors'
  return idContains === undefined ? null : 'id'
}

const columns = {
  created_at: 'first_seen_at',
  updated_at: 'last_event_at',
  ended_at: 'ended_at',
  id: null,
} as const

/** Returns the column of sagas that determines the order; null when the order is by id. */
export const orderColumn = ({ by }: SagaOrder) => columns[by]

/**
 * Returns the ORDER BY: newest first, then by id; the other direction is the exact reverse, so that one index
 * serves both.
 *
 * @param time the column, null when the order is by id
 */
export function orderBy({ direction }: SagaOrder, time: string | null, id: string): string {
  if (time === null) return `${id} ${direction}`
  return direction === 'desc' ? `${time} DESC, ${id}` : `${time}, ${id} DESC`
}

/**
 * Returns the condition for rows after a position. Its first comparison determines where the index scan
 * begins.
 */
export function afterPosition(
  { direction }: SagaOrder,
  { at, id }: SagaPosition,
  columnNames: { time: string | null; id: string },
  parameters: SqlParameters,
): string {
  const older = direction === 'desc'
  const lastId = parameters.add(id)
  if (columnNames.time === null) return `${columnNames.id} ${older ? '<' : '>'} ${lastId}`
  const lastAt = parameters.add(at)
  const { time } = columnNames
  return (
    `${time} ${older ? '<=' : '>='} ${lastAt} AND ` +
    `(${time} ${older ? '<' : '>'} ${lastAt} OR ${columnNames.id} ${older ? '>' : '<'} ${lastId})`
  )
}

/** Returns the condition for rows up to a position, including the row at the position. */
export function upToPosition(
  order: SagaOrder,
  { at, id }: SagaPosition,
  { time, id: idColumn }: { time: string; id: string },
  parameters: SqlParameters,
): string {
  const older = order.direction === 'desc'
  const lastAt = parameters.add(at)
  return (
    `${time} ${older ? '>=' : '<='} ${lastAt} AND ` +
    `(${time} ${older ? '>' : '<'} ${lastAt} OR ${idColumn} ${older ? '<=' : '>='} ${parameters.add(id)})`
  )
}

/** A query for rows `s` of sagas. */
export interface SagaQuestion {
  search: SagaSearch
  order: SagaOrder
  /** Only rows after this one. Unset: from the first one. */
  after?: SagaPosition | null | undefined
}

/** The text after FROM, and the conditions after WHERE. */
export interface SagaSource {
  from: string
  where: string[]
  order: string
}

/**
 * Number of the newest error rows that are scanned. A frequent text is found among them; a rare text is found
 * quickly by its trigrams.
 */
const newestErrorsMax = 2000

/**
 * Returns the source of a search. When another table answers a part of the search, its rows are read first
 * and in the order of the list, so the plan does not depend on estimates of their number.
 *
 * @param errors `newest`: only the newest errors are scanned
 */
export function sagaSource(
  question: SagaQuestion,
  parameters: SqlParameters,
  errors: 'all' | 'newest' = 'all',
): SagaSource {
  const { search, order, after } = question
  const driver = driverOf(search)
  const where = conditionsOf(search, driver, parameters)
  const time = orderColumn(order)
  const byCreation = time === 'first_seen_at'
  const columns = { time: time && `s.${time}`, id: 's.id' }
  if (time === 'ended_at') where.push('s.ended_at IS NOT NULL')
  if (driver === null) {
    if (after) where.push(afterPosition(order, after, columns, parameters))
    return { from: 'sagas s', where, order: orderBy(order, columns.time, columns.id) }
  }
  if (after && !byCreation) where.push(afterPosition(order, after, columns, parameters))
  const rows = drivingRows(driver, question, parameters, errors === 'newest')
  const from = `(${rows}) d JOIN sagas s ON s.id = d.saga_id`
  return byCreation
    ? { from, where, order: orderBy(order, 'd.first_seen_at', 'd.saga_id') }
    : { from, where, order: orderBy(order, columns.time, columns.id) }
}

/** Returns whether scanning the newest errors may be enough. */
export const newestErrorsMaySuffice = ({ search, order }: SagaQuestion): boolean =>
  driverOf(search) === 'errors' && order.by === 'created_at'

function drivingRows(
  driver: NonNullable<Driver>,
  { search, order, after }: SagaQuestion,
  parameters: SqlParameters,
  onlyNewest: boolean,
): string {
  const { table, where } = drivingTable(driver, search, parameters)
  const text = driver === 'errors' ? containsErrors(search, parameters) : null
  const conditions = [`d.tenant = ${parameters.add(search.tenant)}`, ...where]
  const byCreation = order.by === 'created_at'
  if (byCreation) conditions.push(...withinRange(search, parameters))
  const names = { time: 'd.first_seen_at', id: 'd.saga_id' }
  if (after && byCreation) conditions.push(afterPosition(order, after, names, parameters))
  const ordered = `ORDER BY ${orderBy(order, byCreation ? names.time : null, names.id)}`
  if (onlyNewest) {
    return `SELECT DISTINCT first_seen_at, saga_id FROM (
      SELECT d.first_seen_at, d.saga_id, d.folded FROM ${table} d WHERE ${conditions.join(' AND ')}
      ${ordered} LIMIT ${newestErrorsMax}) d WHERE ${text} ${ordered}`
  }
  const all = [...conditions, ...(text === null ? [] : [text])].join(' AND ')
  // Several activities of one saga may have the flag, the fingerprint or the text; the index returns the rows
  // in order.
  return `SELECT DISTINCT d.first_seen_at, d.saga_id FROM ${table} d WHERE ${all} ${byCreation ? ordered : ''}`
}

/**
 * Returns the table that answers the driver's part of a search, except error texts. Its rows `d` are ordered
 * by creation.
 */
export function drivingTable(driver: NonNullable<Driver>, search: SagaSearch, parameters: SqlParameters) {
  if (driver === 'tag') {
    return { table: 'saga_tags', where: [`d.tag = ${parameters.add(search.tag)}`] }
  }
  if (driver === 'fingerprint') {
    return { table: 'saga_errors', where: [`d.fingerprint = ${parameters.add(search.fingerprint)}`] }
  }
  if (driver === 'errors') return { table: 'saga_errors', where: [] }
  if (driver === 'id') return searchedIds(search, parameters)
  return { table: 'saga_flags', where: [`d.kind = ${parameters.add(driver.flag)}`, "d.saga_id <> ''"] }
}

/** Returns the newest sagas, among which the search looks for a part of the id. */
function searchedIds(search: SagaSearch, parameters: SqlParameters) {
  const conditions = [`d.tenant = ${parameters.add(search.tenant)}`, ...withinRange(search, parameters)]
  const newest = `SELECT d.tenant, d.first_seen_at, d.id AS saga_id FROM sagas d WHERE ${conditions.join(' AND ')}
    ORDER BY d.first_seen_at DESC, d.id LIMIT ${searchedIdsMax}`
  return { table: `(${newest})`, where: [containsText('d.saga_id', search.idContains ?? '', parameters)] }
}

const containsErrors = ({ errorsContain = '' }: SagaSearch, parameters: SqlParameters) =>
  `d.folded LIKE lower(${parameters.add(containsPattern(errorsContain))})`

function withinRange({ createdAfter, createdBefore }: SagaSearch, parameters: SqlParameters): string[] {
  return [
    ...(createdAfter ? [`d.first_seen_at >= ${parameters.add(createdAfter)}`] : []),
    ...(createdBefore ? [`d.first_seen_at <= ${parameters.add(createdBefore)}`] : []),
  ]
}
