import { resolve } from 'node:path'
import { createDatabase, setTenantPlace } from '@switchyard/db'
import { createTestDatabase, findFreePort, waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { connect } from './grpc-client.js'
import { createTokens, webhookSecretKeys } from './harness.js'

export const cellNames = ['default', 'second'] as const
export type CellName = (typeof cellNames)[number]

const root = resolve(import.meta.dirname, '../../..')
const main = resolve(import.meta.dirname, '../src/main.ts')

async function openCell(name: CellName) {
  const testDatabase = await createTestDatabase()
  return {
    name,
    port: await findFreePort(),
    grpcPort: await findFreePort(),
    url: testDatabase.urlOf('saga-reporter'),
    ownerUrl: testDatabase.url,
    workerUrl: testDatabase.urlOf('worker'),
    database: createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' }),
    dropDatabase: testDatabase.close,
  }
}

type Cell = Awaited<ReturnType<typeof openCell>>

/** Starts the command `saga:move-tenant` from its sources, as a process of its own. */
export function startMoveTenant(cells: Record<CellName, Cell>, tenant: string, to: CellName) {
  const command = resolve(import.meta.dirname, '../src/cells/move-tenant-main.ts')
  const options = ['--import', 'tsx', '--conditions=@switchyard/source', command, tenant, to]
  const env = {
    DATABASE_URL: cells.default.ownerUrl,
    SAGA_CELL_DATABASE_URLS: `second=${cells.second.ownerUrl}`,
  }
  return execa(process.execPath, options, { cwd: root, env, reject: false, all: true })
}

export async function runMoveTenant(cells: Record<CellName, Cell>, tenant: string, to: CellName) {
  const { exitCode, all } = await startMoveTenant(cells, tenant, to)
  return { code: exitCode, output: all.trim() }
}

/** Writes the map of tenants. */
const placeIn =
  ({ database }: Cell) =>
  (tenant: string, cell: CellName | null) =>
    setTenantPlace(database, tenant, { cell, movesFrom: null, movesTo: null, moveId: null })

/** The processes of two cells, each with a database of its own; that of `default` is the directory. `acme` belongs to `second`. */
export async function startCells() {
  const cells = { default: await openCell('default'), second: await openCell('second') }
  const list = [cells.default, cells.second]

  async function start({ name, port, grpcPort, url }: Cell) {
    const child = execa(process.execPath, ['--import', 'tsx', '--conditions=@switchyard/source', main], {
      cwd: root,
      env: {
        DATABASE_URL: url,
        SAGA_DIRECTORY_DATABASE_URL: cells.default.url,
        SAGA_CELL: name,
        SAGA_CELLS: list
          .map((cell) => `${cell.name}=http://127.0.0.1:${cell.port}+127.0.0.1:${cell.grpcPort}`)
          .join(','),
        SAGA_AUTH: 'token',
        PORT: String(port),
        GRPC_PORT: String(grpcPort),
        RATE_LIMIT_PER_MINUTE: '0',
        SHUTDOWN_TIMEOUT_MS: '1000',
        WEBHOOK_SECRET_KEYS: webhookSecretKeys,
        LOG_LEVEL: 'silent',
      },
      reject: false,
      stdout: 'ignore',
      stderr: 'inherit',
    })
    const isReady = async () => (await fetch(`http://127.0.0.1:${port}/-/readiness`)).ok
    await waitFor(isReady, { what: `the reporter of ${name} to be ready` })
    // A promise would be awaited to its end.
    return { child }
  }

  await placeIn(cells.default)('acme', 'second')
  const running = { default: await start(cells.default), second: await start(cells.second) }
  const tokens = await createTokens(cells.default.database)
  const grpc = { default: connect(cells.default.grpcPort), second: connect(cells.second.grpcPort) }

  return {
    cells,
    tokens,
    grpc,
    urlOf: (name: CellName, path: string) => `http://127.0.0.1:${cells[name].port}/api/v4${path}`,
    async ask(name: CellName, method: string, path: string, token: string, body?: unknown) {
      const response = await fetch(`http://127.0.0.1:${cells[name].port}/api/v4${path}`, {
        method,
        headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? null : JSON.parse(text) }
    },
    place: placeIn(cells.default),
    /** Rows of a tenant in the log of a cell. */
    async countEvents(name: CellName, tenant: string): Promise<number> {
      const { rows } = await cells[name].database.pool.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM saga_events WHERE tenant = $1',
        [tenant],
      )
      return rows[0]?.count ?? 0
    },
    async kill(name: CellName) {
      running[name].child.kill('SIGKILL')
      await running[name].child
    },
    async restart(name: CellName) {
      running[name] = await start(cells[name])
    },
    async close() {
      for (const { close } of Object.values(grpc)) close()
      for (const { child } of Object.values(running)) child.kill('SIGTERM')
      await Promise.all(Object.values(running).map(({ child }) => child))
      for (const { database, dropDatabase } of list) {
        await database.close()
        await dropDatabase()
      }
    },
  }
}
