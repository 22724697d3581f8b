import type { SagaOrder, SagaPosition } from './saga-search.js'
import type { SqlParameters } from './sql-parameters.js'

const columns = {
  created_at: 'first_seen_at',
  updated_at: 'last_event_at',
  ended_at: 'ended_at',
  id: null,
} as const

/** The column of sagas that an order is by; null when it is by id. */
export const orderColumn = ({ by }: SagaOrder) => columns[by]

/**
 * Newest first, and among equals by id; the other direction is the exact reverse, so that one index serves both.
 *
 * @param time the column in question, null when the order is by id
 */
export function orderBy({ direction }: SagaOrder, time: string | null, id: string): string {
  if (time === null) return `${id} ${direction}`
  return direction === 'desc' ? `${time} DESC, ${id}` : `${time}, ${id} DESC`
}

/** The condition for rows after a position. Its first comparison determines where the index scan begins. */
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

/** The condition for rows up to a position, including the row at the position. */
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
