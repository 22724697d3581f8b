import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const retryDelayMs = 500
const connectTimeoutMs = 3000

/** The server is not there yet, or says itself that it is starting or stopping. */
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
 * Resolves once the database at `url` accepts connections.
 * @throws at once what waiting cannot mend (wrong password, no such database), and at the deadline the last
 *   failure of the server
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
  // node-postgres gives these two no code: no handshake in time, and a server that went away during it.
  return /timeout expired|terminated/.test(error.message)
}

function describe(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : 'connection failed')
}
