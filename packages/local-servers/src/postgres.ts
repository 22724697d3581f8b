import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { getPostgresBinaries } from './postgres/binaries.js'
import { clearOrphan, ensureCluster, findServer, loadPassword } from './postgres/cluster.js'
import { findServerUser } from './postgres/server-user.js'
import { getFreePort } from './process/free-port.js'
import { rotateLog } from './process/log-file.js'
import { type SupervisedProcess, supervise } from './process/supervised-process.js'
import { waitForServer } from './process/wait-for-server.js'

export interface PostgresOptions {
  /** Absolute path of the folder for cluster, password and log. A missing folder is created. */
  dataDir: string
  /** Log file of the server. Unset: `<dataDir>/postgres.log`. */
  logFile?: string
  /** Prints one line on the console, such as a crash and the restart after it. */
  log: (line: string) => void
  /** False: fsync is off, for test data. */
  durable?: boolean
}

export interface RunningPostgres {
  /** URL of the database `switchyard`. */
  url: string
  /** URL of the database `postgres` for a superuser, who may create databases. */
  adminUrl: string
  process: SupervisedProcess
  stop(): Promise<void>
}

/**
 * Starts the embedded PostgreSQL on a free port of 127.0.0.1 and keeps it running. The next start uses the
 * same folder. First stops a server that a killed start left running.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { dataDir, durable = true, logFile = join(dataDir, 'postgres.log') } = options
  const clusterDir = join(dataDir, 'cluster')
  const binaries = getPostgresBinaries()
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // Under root, the server runs as another user, who must be able to enter this folder but not to list it.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o711)
  const password = loadPassword(join(dataDir, 'password'))
  const user = findServerUser(clusterDir, [binaries.postgres, dataDir])
  await ensureCluster({ clusterDir, initdb: binaries.initdb, password, user, durable })
  await clearOrphan(clusterDir)

  const port = await getFreePort()
  const adminUrl = urlOf(password, port, 'postgres')
  const server = { command: binaries.postgres, args: serverArguments(clusterDir, port, durable) }
  rotateLog(logFile)
  const child = supervise({
    ...(user ? user.asUser(server) : server),
    name: 'postgresql',
    cwd: '/',
    logFile,
    // SIGINT is PostgreSQL's fast shutdown, which ends sessions instead of waiting for them.
    stopSignal: 'SIGINT',
    stopTimeoutMs: 30_000,
    notice: options.log,
  })
  try {
    await waitForServer('PostgreSQL', child, () => canConnect(adminUrl))
    await ensureDatabase(adminUrl, databaseName)
  } catch (error) {
    await child.stop()
    throw error
  }
  return { url: urlOf(password, port, databaseName), adminUrl, process: child, stop: () => child.stop() }
}

const databaseName = 'switchyard'

const urlOf = (password: string, port: number, database: string) =>
  `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`

/**
 * Finds the URL of the database `switchyard` of the embedded server that runs on a folder; null when none
 * runs.
 */
export function findPostgres(dataDir: string): string | null {
  const server = findServer(join(dataDir, 'cluster'))
  return server && urlOf(loadPassword(join(dataDir, 'password')), server.port, databaseName)
}

function serverArguments(clusterDir: string, port: number, durable: boolean): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    // The path of a unix socket in a deep folder could exceed the limit of 107 bytes.
    unix_socket_directories: '',
    max_connections: 300,
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(durable
      ? { shared_buffers: '256MB' }
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_wal_size: '1GB' }),
  }
  return [
    '-D',
    clusterDir,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

async function canConnect(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000 })
  // Without a listener, a server that is killed between two statements would end this process.
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
