import { conditionsOf, containsPattern, containsText, type Driver, driverOf } from './conditions.js'
import { afterPosition, orderBy, orderColumn } from './order.js'
import { type SagaOrder, type SagaPosition, type SagaSearch, searchedIdsMax } from './saga-search.js'
import type { SqlParameters } from './sql-parameters.js'

/** A query for rows `s` of sagas. */
export interface SagaQuestion {
  search: SagaSearch
  order: SagaOrder
  /** Rows after this one. Unset: from the first on. */
  after?: SagaPosition | null | undefined
}

/** The text behind FROM, and the conditions behind WHERE. */
export interface SagaSource {
  from: string
  where: string[]
  /** Order of the rows. */
  order: string
}

/**
 * The number of the newest error rows that are searched one by one. A frequent text is found among them; a rare text
 * is found quickly by its trigrams.
 */
const walkedErrors = 2000

/**
 * The source of a search. When a table of its own answers a part of the search, its rows are read first and in the order
 * of the list, so the plan does not depend on estimates of how rare the rows are.
 *
 * @param errors `walk`: only the newest errors are searched
 */
export function sagaSource(
  question: SagaQuestion,
  parameters: SqlParameters,
  errors: 'all' | 'walk' = 'all',
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
  const rows = drivingRows(driver, question, parameters, errors === 'walk')
  const from = `(${rows}) d JOIN sagas s ON s.id = d.saga_id`
  return byCreation
    ? { from, where, order: orderBy(order, 'd.first_seen_at', 'd.saga_id') }
    : { from, where, order: orderBy(order, columns.time, columns.id) }
}

/** Whether searching the newest errors may be enough. */
export const mayWalkErrors = ({ search, order }: SagaQuestion): boolean =>
  driverOf(search) === 'errors' && order.by === 'created_at'

function drivingRows(
  driver: NonNullable<Driver>,
  { search, order, after }: SagaQuestion,
  parameters: SqlParameters,
  walk: boolean,
): string {
  const { table, where } = drivingTable(driver, search, parameters)
  const text = driver === 'errors' ? containsErrors(search, parameters) : null
  const conditions = [`d.tenant = ${parameters.add(search.tenant)}`, ...where]
  const byCreation = order.by === 'created_at'
  if (byCreation) conditions.push(...withinRange(search, parameters))
  const names = { time: 'd.first_seen_at', id: 'd.saga_id' }
  if (after && byCreation) conditions.push(afterPosition(order, after, names, parameters))
  const ordered = `ORDER BY ${orderBy(order, byCreation ? names.time : null, names.id)}`
  if (walk) {
    return `SELECT DISTINCT first_seen_at, saga_id FROM (
      SELECT d.first_seen_at, d.saga_id, d.folded FROM ${table} d WHERE ${conditions.join(' AND ')}
      ${ordered} LIMIT ${walkedErrors}) d WHERE ${text} ${ordered}`
  }
  const all = [...conditions, ...(text === null ? [] : [text])].join(' AND ')
  // Several activities of one saga may have the flag, the fingerprint or the text; the rows come sorted from the index.
  return `SELECT DISTINCT d.first_seen_at, d.saga_id FROM ${table} d WHERE ${all} ${byCreation ? ordered : ''}`
}

/** The table that answers the driver's part of a search, except error texts. Its rows `d` are ordered by creation. */
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

/** The newest sagas of the range in which the search looks for a part of the id. */
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
