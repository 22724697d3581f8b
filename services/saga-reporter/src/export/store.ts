import type { Pooled } from '@switchyard/db'
import { SqlParameters } from '@switchyard/db/sql'
import { readRows } from '../limited-database.js'
import { afterPosition, driverOf, drivingTable, orderBy, sagaSource, upToPosition } from '../saga-source.js'
import { readSagaViews, type SagaRow, type SagaView, sagaRowColumns } from '../saga-view-store.js'
import { newestFirst, type SagaPosition, type SagaSearch } from '../shapes/search.js'

/** Rows that one step reads, matching or not, so that a step is fast even when few sagas match. */
const stepRows = 2000

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

/** Returns the rows to count in a step: the rows of an index that includes every match of the search. */
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
