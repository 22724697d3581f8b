import {
  createDatabase,
  type Database,
  isDatabaseUnavailable,
  type Pooled,
  sqlStateOf,
  sqlStates,
} from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import type { Config } from './config.js'

/**
 * Opens separate connections with a time limit for each statement, so that slow reads, bulk jobs, webhooks
 * and commands do not occupy the connections that store events.
 */
export function openLimitedDatabase(config: Config, lifecycle: ServiceContext['lifecycle']): Database {
  const limitedDatabase = createDatabase({
    url: config.DATABASE_URL.reveal(),
    poolSizeMax: config.DATABASE_READ_POOL_SIZE_MAX,
    applicationName: 'saga-reporter-read',
    statementTimeoutMs: config.DATABASE_READ_TIMEOUT_MS,
    // PostgreSQL cancels the statement first, with an error that names the cause.
    answerTimeoutMs: config.DATABASE_READ_TIMEOUT_MS + 5000,
  })
  lifecycle.onClose('postgres beside events', () => limitedDatabase.close())
  return limitedDatabase
}

/**
 * Returns whether a request failed because the database is unavailable, or did not answer within the pool's
 * time limit.
 */
export const isUnavailable = (error: unknown): boolean => isDatabaseUnavailable(error) || isTooLong(error)

const isTooLong = (error: unknown): boolean => sqlStateOf(error) === sqlStates.queryCanceled

/** Throws the error of a query, as a refusal when the query exceeds the pool's time limit: for `catch`. */
export function refuseTooLong(cause: unknown): never {
  throw isTooLong(cause)
    ? unavailable('the question takes too long to answer: narrow it by time, service_name or status', {
        cause,
      })
    : cause
}

/**
 * A statement for reading. A named statement is prepared once per connection; an unnamed one is planned for
 * its values.
 */
export interface ReadQuery {
  text: string
  values: unknown[]
  name?: string
}

/**
 * Returns the rows of a query.
 *
 * @throws DomainError unavailable when the query exceeds the pool's time limit
 */
export async function readRows<Row extends object>({ pool }: Pooled, query: ReadQuery): Promise<Row[]> {
  const { rows } = await pool.query<Row>(query).catch(refuseTooLong)
  return rows
}
