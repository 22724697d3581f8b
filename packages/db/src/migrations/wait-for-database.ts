import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isDatabaseUnavailable } from '../database-failure.js'

const retryDelayMs = 500
const connectTimeoutMs = 3000

/**
 * Resolves when the database at `url` accepts connections.
 *
 * @throws Error at once for a permanent failure (wrong password, no such database), and after the timeout for the last
 *   temporary failure
 */
export async function waitForDatabase(url: string, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const failure = await tryToConnect(url)
    if (failure === undefined) return
    if (!isDatabaseUnavailable(failure)) throw failure
    if (Date.now() + retryDelayMs > deadline) {
      throw new Error(`no answer within ${timeoutMs / 1000} s (${describe(failure)})`, { cause: failure })
    }
    await delay(retryDelayMs)
  }
}

async function tryToConnect(url: string): Promise<Error | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    await client.end().catch(() => {})
  }
}

function describe(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : 'connection failed')
}
