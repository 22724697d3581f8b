import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import {
  createSagaEventStore,
  createWebhook,
  type Database,
  fenceTenant,
  findTenantPlace,
  holdsTenant,
  setTenantPlace,
} from '@switchyard/db'
import { createSagaClient, type ReportResult } from '@switchyard/saga-client'
import { findFreePort, startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { moveTenant } from '../src/cells/move-tenant.js'
import { type CellName, cellNames, runMoveTenant, startCells, startMoveTenant } from './cells-harness.js'
import { webhookSecretKeys } from './harness.js'
import { openStream } from './live/sse-client.js'
import { runRebuild } from './saga-rebuild.js'

const root = resolve(import.meta.dirname, '../../..')
const workerMain = resolve(root, 'services/worker/src/main.ts')

let cells: Awaited<ReturnType<typeof startCells>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
const workers: Awaited<ReturnType<typeof startWorker>>[] = []
beforeAll(async () => {
  cells = await startCells()
  receiver = await startReceiver()
  for (const name of cellNames) workers.push(await startWorker(name))
})
afterAll(async () => {
  for (const { close } of workers) await close()
  receiver?.close()
  await cells?.close()
})

/** Takes webhooks, and keeps the saga of each. */
async function startReceiver() {
  const told: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    told.push(JSON.parse(Buffer.concat(chunks).toString()).saga.saga_id)
    response.end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return { told, url: `http://127.0.0.1:${port}/hook`, close: () => server.close() }
}

/** The worker of a cell, with a Redis of its own. */
async function startWorker(name: CellName) {
  const redis: TestRedis = await startTestRedis()
  const child = execa(process.execPath, ['--import', 'tsx', '--conditions=@switchyard/source', workerMain], {
    cwd: root,
    env: {
      DATABASE_URL: cells.cells[name].workerUrl,
      REDIS_URL: redis.urlOf('worker'),
      SWITCHYARD_STORAGE_ROOT: root,
      PORT: String(await findFreePort()),
      LOG_LEVEL: 'silent',
      SHUTDOWN_TIMEOUT_MS: '1000',
      WEBHOOK_SECRET_KEYS: webhookSecretKeys,
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    },
    reject: false,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  return {
    async close() {
      child.kill('SIGTERM')
      await child
      await redis.stop()
    },
  }
}

const connectClient = () =>
  createSagaClient({
    address: `127.0.0.1:${cells.cells.default.grpcPort}`,
    token: cells.tokens.reporter,
    tenant: 'busy',
    serviceName: 'load',
    retryDelayMs: 50,
    retryDelayMsMax: 500,
  })

/** Has a saga end that webhooks made later are not told of. */
async function tellBefore() {
  const client = connectClient()
  await client.sagaStarted({ sagaId: 'before' })
  await client.sagaEnded({ sagaId: 'before' })
  await client.close(0)
  const isPassed = async () => {
    const { rowCount } = await cells.cells.default.database.pool.query(
      `SELECT FROM webhook_cursors WHERE position = (SELECT max(id) FROM saga_events)`,
    )
    return rowCount === 1
  }
  await waitFor(isPassed, { what: 'webhooks to have passed the saga' })
}

function startLoad() {
  const client = connectClient()
  const sagas: string[] = []
  const results: Promise<ReportResult>[] = []
  const timer = setInterval(() => {
    const sagaId = `load-${sagas.length}`
    sagas.push(sagaId)
    results.push(client.sagaStarted({ sagaId }), client.sagaEnded({ sagaId }))
  }, 20)
  return {
    client,
    sagas,
    results,
    async end() {
      clearInterval(timer)
      const outcomes = new Set((await Promise.all(results)).map(({ outcome }) => outcome))
      await client.close(0)
      return [...outcomes]
    },
  }
}

/** Keeps the copy from its end, runs `during` once it has come so far, and lets it go on. */
async function whileCopying(to: CellName, during: () => Promise<unknown>): Promise<void> {
  const { pool } = cells.cells[to].database
  const blocker = await pool.connect()
  try {
    await blocker.query('BEGIN; LOCK TABLE saga_tombstones IN EXCLUSIVE MODE')
    const isStopped = async () => {
      const { rowCount } = await pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database()
          AND application_name = 'saga-move-tenant' AND wait_event_type = 'Lock'`,
      )
      return rowCount === 1
    }
    await waitFor(isStopped, { what: 'the copy to be under way' })
    await during()
  } finally {
    await blocker.query('ROLLBACK')
    blocker.release()
  }
}

const eventsOf = async (name: CellName) => {
  const { rows } = await cells.cells[name].database.pool.query<{ events: number; distinct: number }>(
    `SELECT count(*)::int AS events, count(DISTINCT (saga_id, operation))::int AS distinct
      FROM saga_events WHERE tenant = 'busy' AND saga_id LIKE 'load-%'`,
  )
  return rows[0]
}

it('moves a tenant there and back under load, after a kill as well: nothing acknowledged is lost or doubled, and webhooks tell each end once', async () => {
  await tellBefore()
  await createWebhook(
    cells.cells.default.database,
    { scope: 'saga', tenant: 'busy' },
    {
      ...{ url: receiver.url, host: '127.0.0.1', secret: null, events: ['saga.ended'] },
      ...{ serviceName: null, enabled: true, createdBy: null },
    },
  )
  const load = startLoad()
  const headers = { 'PRIVATE-TOKEN': cells.tokens.reader }
  const stream = await openStream(cells.urlOf('default', '/sagas/stream?tenant=busy'), headers)
  await stream.waitForEvents(10)
  const told = () => new Set(receiver.told)

  const killed = startMoveTenant(cells.cells, 'busy', 'second')
  await whileCopying('second', async () => {
    killed.kill('SIGKILL')
    await killed
  })
  await waitFor(async () => (await eventsOf('second'))?.events === 0, { what: 'the copy to be undone' })
  expect(stream.hasEnded()).toBe(true)
  expect(await runMoveTenant(cells.cells, 'busy', 'second')).toEqual({
    code: 0,
    output: 'busy belongs to the cell second',
  })
  expect(await eventsOf('default')).toEqual({ events: 0, distinct: 0 })
  const stored = load.client.stats().stored
  await waitFor(() => load.client.stats().stored > stored + 100, { what: 'events to be stored in second' })

  const again = await openStream(cells.urlOf('default', '/sagas/stream?tenant=busy'), {
    ...headers,
    'Last-Event-ID': stream.lastEventId() ?? '',
  })
  const followed = () =>
    new Set([...stream.events, ...again.events].map(({ data }) => (data as { saga_id: string }).saga_id))
  // The stream began among the first sagas.
  const reported = load.sagas.slice(20)
  await Promise.all(load.results)
  const isFollowed = () => reported.every((id) => followed().has(id))
  await waitFor(isFollowed, { what: 'the stream to have told everything' })
  await again.close()

  // A reporter that was paused for a long time between its look at the map and its write.
  const late = createSagaEventStore(cells.cells.default.database).record([
    {
      ...{ tenant: 'busy', receivedAt: new Date(), eventId: null, eventTime: null },
      event: { operation: 'SagaStarted', sagaId: 'late', serviceName: 'load', addTime: null },
      contentKey: Buffer.alloc(32),
      request: Buffer.from(''),
    },
  ])
  await expect(late).rejects.toMatchObject({ kind: 'unavailable' })

  expect(await runMoveTenant(cells.cells, 'busy', 'default')).toMatchObject({ code: 0 })
  expect(await load.end()).toEqual(['stored'])
  const all = load.results.length
  expect(await eventsOf('default')).toEqual({ events: all, distinct: all })
  expect(await eventsOf('second')).toEqual({ events: 0, distinct: 0 })
  await waitFor(() => told().size === load.sagas.length, { what: 'each end to be told' })
  expect(told()).toEqual(new Set(load.sagas))
  expect(receiver.told).toHaveLength(told().size)
  const verified = cellNames.map((name) => runRebuild(cells.cells[name].url, '--verify'))
  expect(await Promise.all(verified)).toMatchObject([{ code: 0 }, { code: 0 }])
}, 120_000)

const databases = () =>
  new Map(cellNames.map((name): [string, Database] => [name, cells.cells[name].database]))
const move = (tenant: string, cell: string) => moveTenant(databases(), tenant, cell)

const addNote = (name: CellName, tenant: string) =>
  cells.cells[name].database.pool.query(
    `INSERT INTO saga_notes (tenant, saga_id, author_id, author_name, body) VALUES ($1, 's', 1, 'a', '')`,
    [tenant],
  )

/** As a run that was killed a minute ago has left it. */
async function leaveMove(tenant: string, cell: CellName | null) {
  const directory = cells.cells.default.database
  const moveId = randomUUID()
  await setTenantPlace(directory, tenant, { cell, movesFrom: 'default', movesTo: 'second', moveId })
  await directory.pool.query(
    `UPDATE saga_tenant_cells SET changed_at = now() - interval '1 minute' WHERE tenant = $1`,
    [tenant],
  )
  return moveId
}

it('goes on after a kill behind the copy, before or after the map leads to it', async () => {
  for (const [tenant, cell] of [
    ['unled', null],
    ['led', 'second'],
  ] as const) {
    await addNote('default', tenant)
    await addNote('second', tenant)
    await fenceTenant(cells.cells.default.database, tenant)
    const moveId = await leaveMove(tenant, cell)
    await cells.cells.second.database.pool.query('INSERT INTO saga_tenant_copies (move_id) VALUES ($1)', [
      moveId,
    ])
    await move(tenant, 'second')
    expect(await findTenantPlace(cells.cells.default.database, tenant)).toMatchObject({
      ...{ cell: 'second', movesFrom: null, movesTo: null },
    })
    expect(await holdsTenant(cells.cells.default.database, tenant)).toBe(false)
    expect(await holdsTenant(cells.cells.second.database, tenant)).toBe(true)
  }
})

it('deletes nothing when the database of the cell does not have the copy: rows of the tenant or another database are none', async () => {
  const directory = cells.cells.default.database
  await addNote('default', 'stray')
  await addNote('second', 'stray')
  await leaveMove('stray', null)
  await expect(move('stray', 'second')).rejects.toThrow('the new cell has other rows of the tenant')
  expect(await findTenantPlace(directory, 'stray')).toMatchObject({ cell: 'default', movesTo: null })

  await addNote('default', 'mistaken')
  await leaveMove('mistaken', 'second')
  const mistaken = new Map(cellNames.map((name): [string, Database] => [name, directory]))
  await expect(moveTenant(mistaken, 'mistaken', 'second')).rejects.toThrow('does not have the copy')
  for (const tenant of ['stray', 'mistaken']) expect(await holdsTenant(directory, tenant)).toBe(true)
})

it('gives an interrupted move up when it is told the cell that the tenant leaves', async () => {
  await addNote('default', 'torn')
  await fenceTenant(cells.cells.default.database, 'torn')
  await leaveMove('torn', null)
  await expect(move('torn', 'third')).rejects.toThrow('the tenant is moving to the cell second')
  await move('torn', 'default')
  expect(await findTenantPlace(cells.cells.default.database, 'torn')).toMatchObject({ cell: 'default' })
  await addNote('default', 'torn')
})

it('refuses a cell without a database, the cell of the tenant itself, and a tenant with a running bulk job', async () => {
  await cells.cells.default.database.pool.query(
    `INSERT INTO saga_bulk_jobs (tenant, action, note, filter, author_id, author_name, audit_author, active_user_id,
        owner, owned_until)
      VALUES ('bulky', 'note', '', '{}', 1, 'a', '{}', 1, 'somebody', now() + interval '1 hour')`,
  )
  await expect(move('bulky', 'third')).rejects.toThrow('no database of the cell third is given')
  await expect(move('bulky', 'default')).rejects.toThrow('the tenant belongs to the cell default already')
  await expect(move('bulky', 'second')).rejects.toThrow('a bulk job of the tenant is running')
})
