import type { SagaStatus } from '@switchyard/domain/saga'
import type { PoolClient } from 'pg'
import { type Readable, readRows } from '../reading/read-query.js'
import type { SagaOrder, SagaSearch } from '../reading/saga-search.js'
import { sagaSource } from '../reading/saga-source.js'
import { SqlParameters } from '../reading/sql-parameters.js'

/** Sagas that one job processes. */
export const bulkSagasMax = 100_000

export interface SagaMatches {
  /** One more than {@link bulkSagasMax} when the search finds more. */
  matched: number
  statuses: Partial<Record<SagaStatus, number>>
}

/**
 * How many sagas a search finds, and how many of these have each status.
 *
 * @throws DomainError unavailable when the pool's time for a statement did not suffice
 */
export async function countMatches(
  database: Readable,
  search: SagaSearch,
  order: SagaOrder,
): Promise<SagaMatches> {
  const parameters = new SqlParameters()
  const { from, where } = sagaSource({ search, order }, parameters)
  const text = `SELECT found.status, count(*)::integer AS count FROM (
      SELECT s.status FROM ${from} WHERE ${where.join(' AND ')} LIMIT ${bulkSagasMax + 1}) found
    GROUP BY found.status ORDER BY found.status`
  const rows = await readRows<{ status: SagaStatus; count: number }>(database, {
    text,
    values: parameters.values,
  })
  return {
    matched: rows.reduce((sum, { count }) => sum + count, 0),
    statuses: Object.fromEntries(rows.map(({ status, count }) => [status, count])),
  }
}

/**
 * Stores the sagas of a search as the items of a job, in the order of the search.
 *
 * @returns how many; one more than {@link bulkSagasMax} when the search finds more
 */
export async function storeMatches(
  client: PoolClient,
  jobId: number,
  search: SagaSearch,
  order: SagaOrder,
): Promise<number> {
  const parameters = new SqlParameters()
  const job = [parameters.add(search.tenant), parameters.add(jobId)]
  const source = sagaSource({ search, order }, parameters)
  const { rowCount } = await client.query(
    `INSERT INTO saga_bulk_items (tenant, job_id, position, saga_id)
     SELECT ${job[0]}::text, ${job[1]}::integer, row_number() OVER (), found.id FROM (
       SELECT s.id FROM ${source.from} WHERE ${source.where.join(' AND ')}
       ORDER BY ${source.order} LIMIT ${bulkSagasMax + 1}) found`,
    parameters.values,
  )
  return rowCount ?? 0
}
