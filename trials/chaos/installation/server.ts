import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../../../packages/local-servers/src/postgres.js'
import { createTestDatabase } from '../../../packages/testing/src/test-database.js'
import { listDescendants } from '../../support/processes.js'

/**
 * Starts a PostgreSQL that writes to disk before it commits.
 *
 * @param parent folder of its data; unset: a folder of the system's temporary files
 */
export async function startServer(parent = tmpdir()) {
  const folder = mkdtempSync(join(parent, 'switchyard-faults-'))
  chmodSync(folder, 0o711)
  const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), log: () => {} })
  process.env.SWITCHYARD_TEST_DATABASE_URL = postgres.adminUrl

  /** Signals the server and all its sessions; the stopped server cannot start new ones meanwhile. */
  const signalAll = (signal: NodeJS.Signals) => {
    const server = postgres.process.pid() ?? 0
    process.kill(server, 'SIGSTOP')
    for (const { pid } of listDescendants(server)) signalQuietly(pid, signal)
    process.kill(server, signal)
  }
  return {
    folder,
    createDatabase: createTestDatabase,
    /** Kills as a power failure does: no session can finish. */
    killHard: () => signalAll('SIGKILL'),
    /** Restarts after a kill, or after the server has given up. */
    restart: () => postgres.process.restart(),
    /** Stops all processes while connections stay open, as behind a cut network, or on a disk that hangs. */
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async stop() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended already.
  }
}
