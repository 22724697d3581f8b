import { createDatabase } from '../../packages/db/src/index.js'

/** Returns the rows of a query on a new connection. */
export async function queryAll(databaseUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const database = createDatabase({ url: databaseUrl, poolSizeMax: 1, applicationName: 'chaos' })
  try {
    return (await database.pool.query(sql)).rows
  } finally {
    await database.close()
  }
}
