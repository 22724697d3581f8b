import { conditionsOf, containsPattern, type Driver, driverOf } from './conditions.js'
import { afterPosition, orderBy, orderColumn } from './order.js'
import type { SagaOrder, SagaPosition, SagaSearch } from './saga-search.js'
import type { SqlParameters } from './sql-parameters.js'

/** A question for rows `s` of sagas. */
export interface SagaQuestion {
  search: SagaSearch
  order: SagaOrder
  /** Rows after this one. Unset: from the first on. */
  after?: SagaPosition | null | undefined
}

/** What stands behind FROM, and what rows must meet. */
export interface SagaSource {
  from: string
  where: string[]
  /** Order of the rows. */
  order: string
}

/**
 * Newest rows of the table of errors that are looked at one by one: a text that is frequent is found among them, and
 * one that is not is cheap to find by its trigrams.
 */
const walkedErrors = 2000

/**
 * A part of the search that has a table of its own drives: its rows come in the order of the list, whatever the planner
 * thinks of how rare they are.
 *
 * @param errors `walk`: only the newest errors are looked at
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

/** Whether a first look at the newest errors may answer the question. */
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
  // Several activities of one saga may have the flag or the text; the rows come sorted from the index.
  return `SELECT DISTINCT d.first_seen_at, d.saga_id FROM ${table} d WHERE ${all} ${byCreation ? ordered : ''}`
}

/** The table that answers the driver's part of a search, texts of errors aside: its rows `d` have the order of creation. */
export function drivingTable(driver: NonNullable<Driver>, search: SagaSearch, parameters: SqlParameters) {
  if (driver === 'tag') {
    return { table: 'saga_tags', where: [`d.tag = ${parameters.add(search.tag)}`] }
  }
  if (driver === 'errors') return { table: 'saga_errors', where: [] }
  return { table: 'saga_flags', where: [`d.kind = ${parameters.add(driver.flag)}`, "d.saga_id <> ''"] }
}

const containsErrors = ({ errorsContain = '' }: SagaSearch, parameters: SqlParameters) =>
  `d.folded LIKE lower(${parameters.add(containsPattern(errorsContain))})`

function withinRange({ createdAfter, createdBefore }: SagaSearch, parameters: SqlParameters): string[] {
  return [
    ...(createdAfter ? [`d.first_seen_at >= ${parameters.add(createdAfter)}`] : []),
    ...(createdBefore ? [`d.first_seen_at <= ${parameters.add(createdBefore)}`] : []),
  ]
}
