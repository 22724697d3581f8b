import { type Pooled, readRowsWithin } from '@switchyard/db'
import { SqlParameters } from '@switchyard/db/sql'
import { type SagaStatus, sagaStatuses } from '@switchyard/domain/saga'
import { readRows } from '../limited-database.js'
import { newestErrorsMaySuffice, orderColumn, type SagaQuestion, sagaSource } from '../saga-source.js'
import { readSagaViews, type SagaRow, type SagaView, sagaRowColumns } from '../saga-view-store.js'
import { countedMax, type SagaOrder, type SagaPosition, type SagaSearch } from '../shapes/search.js'

type PositionedRow = SagaRow & { position: Date | null }

/** Reads one page of the sagas of a search, in order. */
export async function searchSagas(
  database: Pooled,
  question: SagaQuestion,
  take: number,
): Promise<{ sagas: SagaView[]; next: SagaPosition | null }> {
  const read = (errors: 'all' | 'newest') =>
    readRows<PositionedRow>(database, pageQuery(question, take, errors))
  // The newest errors fill a page when the text is frequent; a rare text needs all errors.
  const newest = newestErrorsMaySuffice(question) ? await read('newest') : []
  const rows = newest.length > take ? newest : await read('all')
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
function pageQuery(question: SagaQuestion, take: number, errors: 'all' | 'newest') {
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
