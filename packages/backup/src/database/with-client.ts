import { tryLockName } from '@switchyard/db/sql'
import { SolvableProblem } from '@switchyard/terminal'
import pg from 'pg'

/**
 * Runs `work` with one connection to a database, with times in UTC and without a time limit for statements.
 */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    application_name: 'switchyard-backup',
  })
  client.on('error', () => {})
  await client.connect().catch((error: NodeJS.ErrnoException) => {
    throw new SolvableProblem(`The database does not answer: ${error.message || error.code}`)
  })
  try {
    await client.query(
      `SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '60s';
       SET TIME ZONE 'UTC'; SET DateStyle = 'ISO'`,
    )
    const result = await work(client)
    await client.end()
    return result
  } catch (error) {
    // Not awaited, because in the middle of COPY a server does not read the request to end the connection.
    client.end().catch(() => {})
    throw error
  }
}

/**
 * Runs `work` while no other backup of the installation runs, in any container. Two backups into one folder
 * would remove each other's files.
 */
export function withBackupLock<T>(url: string, work: () => Promise<T>): Promise<T> {
  return withClient(url, async (client) => {
    if (!(await tryLockName(client, 'switchyard.backup')))
      throw new SolvableProblem('Another backup of this installation runs: start this one when it has ended')
    try {
      return await work()
    } finally {
      // PostgreSQL keeps the locks of a connection until a moment after the client has ended it.
      await client.query('SELECT pg_advisory_unlock_all()').catch(() => {})
    }
  })
}
