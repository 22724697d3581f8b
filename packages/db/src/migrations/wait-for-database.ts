import pRetry from 'p-retry'
import pg from 'pg'
import { isDatabaseUnavailable } from '../database-failure.js'

const retryDelayMs = 500
const connectTimeoutMs = 3000

/**
 * Waits until the database at `url` accepts connections.
 *
 * @throws Error at once for a permanent failure (wrong password, no such database), and after the timeout for
 * the last temporary failure
 */
export async function waitForDatabase(url: string, timeoutMs: number): Promise<void> {
  try {
    await pRetry(() => connect(url), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: retryDelayMs,
      factor: 1,
      maxRetryTime: timeoutMs,
      shouldRetry: ({ error }) => isDatabaseUnavailable(error),
    })
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error
    throw new Error(`no answer within ${timeoutMs / 1000} s (${connectionProblem(error)})`, { cause: error })
  }
}

async function connect(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
  } finally {
    await client.end().catch(() => {})
  }
}

function connectionProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : 'connection failed')
}
