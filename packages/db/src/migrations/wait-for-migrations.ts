import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { checkDatabase } from '../open-database.js'

const askAgainMs = 1000
const connectTimeoutMs = 3000

/**
 * Waits without limit until the database answers and has every migration of this version. A role that the
 * migration creates may not exist yet.
 *
 * @param onWait receives what is missing, whenever that changes
 */
export async function waitForMigrations(url: string, onWait: (reason: string) => void): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: connectTimeoutMs })
  pool.on('error', () => {})
  let reported = ''
  try {
    for (;;) {
      const reason = await checkDatabase({ pool }).then(() => null, reasonOf)
      if (reason === null) return
      if (reason !== reported) onWait(reason)
      reported = reason
      await delay(askAgainMs)
    }
  } finally {
    await pool.end()
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
