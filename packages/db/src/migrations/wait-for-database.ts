import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const retryDelayMs = 500
const connectTimeoutMs = 3000

/** The server does not listen yet, or reports that it is starting or stopping. */
const transientCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  '57P01',
  '57P02',
  '57P03',
  '53300',
])

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
    if (!isTransient(failure)) throw failure
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

function isTransient(error: Error): boolean {
  if ('code' in error) return transientCodes.has(String(error.code))
  // node-postgres sets no code when the handshake takes too long or the server disconnects during it.
  return /timeout expired|terminated/.test(error.message)
}

function describe(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : 'connection failed')
}
