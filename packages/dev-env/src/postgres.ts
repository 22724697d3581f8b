import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findPostgresBinaries } from './postgres/binaries.js'
import { clearOrphan, ensureCluster, loadPassword } from './postgres/cluster.js'
import { findServerUser } from './postgres/server-user.js'
import { SetupProblem } from './problem.js'
import { findFreePort } from './process/free-port.js'
import { lastFailure, rotateLog } from './process/log-file.js'
import { type SupervisedProcess, supervise } from './process/supervised-process.js'

export interface PostgresOptions {
  /** Folder that holds cluster, password and log; created when missing. Absolute. */
  dataDir: string
  /** Where the server writes its log; `<dataDir>/postgres.log` when left out. */
  logFile?: string
  /** One line for the console, such as a crash and the restart after it. */
  log: (line: string) => void
  /** False switches fsync off, for data that may be lost with the machine: tests. */
  durable?: boolean
}

export interface RunningPostgres {
  /** The database `switchyard`. */
  url: string
  /** The database `postgres`, as a superuser: other databases may be created through it. */
  adminUrl: string
  process: SupervisedProcess
  stop(): Promise<void>
}

const readyTimeoutMs = 60_000

/**
 * Starts the embedded PostgreSQL on a free port of 127.0.0.1 and keeps it running. The folder is used again by the
 * next start; whatever a killed start left behind is cleared first.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { dataDir, durable = true, logFile = join(dataDir, 'postgres.log') } = options
  const clusterDir = join(dataDir, 'cluster')
  const binaries = findPostgresBinaries()
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // Under root the server is another user, who must pass through here but need not list it.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o711)
  const password = loadPassword(join(dataDir, 'password'))
  const user = findServerUser(clusterDir, [binaries.postgres, dataDir])
  await ensureCluster({ clusterDir, initdb: binaries.initdb, password, user, durable })
  await clearOrphan(clusterDir)

  const port = await findFreePort()
  const adminUrl = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`
  const server = { command: binaries.postgres, args: serverArguments(clusterDir, port, durable) }
  rotateLog(logFile)
  const child = supervise({
    ...(user ? user.asUser(server) : server),
    name: 'postgresql',
    cwd: '/',
    logFile,
    // SIGINT is PostgreSQL's fast shutdown: it ends sessions instead of waiting for them.
    stopSignal: 'SIGINT',
    stopTimeoutMs: 30_000,
    notice: options.log,
  })
  try {
    await waitUntilReady(adminUrl, child)
    await ensureDatabase(adminUrl, 'switchyard')
  } catch (error) {
    await child.stop()
    throw error
  }
  const url = adminUrl.replace(/\/postgres$/, '/switchyard')
  return { url, adminUrl, process: child, stop: () => child.stop() }
}

function serverArguments(clusterDir: string, port: number, durable: boolean): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    // TCP alone: the path of a socket in a deep folder would pass the limit of 107 bytes.
    unix_socket_directories: '',
    max_connections: 300,
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(durable
      ? { shared_buffers: '256MB' }
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '4GB' }),
  }
  return [
    '-D',
    clusterDir,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

async function waitUntilReady(adminUrl: string, child: SupervisedProcess): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs
  while (!(await canConnect(adminUrl))) {
    if (child.failures() >= 4 || performance.now() > deadline) {
      throw new SetupProblem(
        `PostgreSQL did not start: ${lastFailure(child.logFile)} (log: ${child.logFile})`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

async function canConnect(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000 })
  // A server killed between two statements reports here; without a listener that ends the process.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}
