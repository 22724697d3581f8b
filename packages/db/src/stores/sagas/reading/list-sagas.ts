import type { SagaStatus } from '@switchyard/domain/saga'
import { sagaStatuses } from '@switchyard/domain/saga'
import { orderColumn } from './order.js'
import { type Readable, readRows, readRowsWithin } from './read-query.js'
import { readSagaViews, type SagaRow, type SagaView, sagaRowColumns } from './saga-row.js'
import type { SagaOrder, SagaPosition, SagaSearch } from './saga-search.js'
import { mayWalkErrors, type SagaQuestion, sagaSource } from './saga-source.js'
import { SqlParameters } from './sql-parameters.js'

export interface SagaPage {
  sagas: SagaView[]
  /** Where the next page begins; null when there is none. */
  next: SagaPosition | null
}

type PositionedRow = SagaRow & { position: Date | null }

/** One page of the sagas of a search, in their order. */
export async function searchSagas(
  database: Readable,
  question: SagaQuestion,
  take: number,
): Promise<SagaPage> {
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

/** One row more than the page holds is read, to see whether there is another page. */
function pageQuery(question: SagaQuestion, take: number, errors: 'all' | 'walk') {
  const parameters = new SqlParameters()
  const { from, where, order } = sagaSource(question, parameters, errors)
  const time = orderColumn(question.order)
  const position = time === null ? 'NULL::timestamptz' : `s.${time}`
  const text = `SELECT ${sagaRowColumns}, ${position} AS position FROM ${from}
    WHERE ${where.join(' AND ')} ORDER BY ${order} LIMIT ${parameters.add(take + 1)}`
  return { text, values: parameters.values }
}

/** Sagas of each status are counted up to this number. */
export const countedMax = 10_000

/** Counting is given up after this time. */
const countingMs = 2000

/**
 * How many sagas of a search have each status, whatever status it asks for; at most {@link countedMax} of each, and one
 * more when there are more. Null when counting took too long.
 */
export async function countSagas(
  database: Readable,
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
