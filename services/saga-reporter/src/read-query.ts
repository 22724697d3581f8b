import { type PoolClient, type Pooled, sqlStateOf, sqlStates } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'

export const tooLong = (cause: unknown) =>
  unavailable('the question takes too long to answer: narrow it by time, service_name or status', { cause })

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
  const { rows } = await pool.query<Row>(query).catch((error: unknown) => {
    throw sqlStateOf(error) === sqlStates.queryCanceled ? tooLong(error) : error
  })
  return rows
}

/** Returns the rows of a query with a time limit; null when the limit was exceeded. */
export async function readRowsWithin<Row extends object>(
  { pool }: Pooled,
  timeoutMs: number,
  query: ReadQuery,
): Promise<Row[] | null> {
  const client = await pool.connect()
  try {
    return await readTimed<Row>(client, timeoutMs, query)
  } catch (error) {
    if (sqlStateOf(error) === sqlStates.queryCanceled) return null
    throw error
  } finally {
    await client.query('ROLLBACK').then(
      () => client.release(),
      () => client.release(true),
    )
  }
}

async function readTimed<Row extends object>(client: PoolClient, timeoutMs: number, query: ReadQuery) {
  await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${Math.trunc(timeoutMs)}`)
  const { rows } = await client.query<Row>(query)
  return rows
}

/** The parameters of a composed statement: the text contains `$1`, `$2`, …, and the values are beside it. */
export class SqlParameters {
  readonly values: unknown[] = []

  /** @returns the placeholder of the value */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}
