import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createDatabase, type Database } from '@switchyard/db'
import { applyMigrations, listShippedMigrations } from '@switchyard/db/migrations'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deriveFromLog, readLog } from './event-log.js'
import type { Fields, Operation } from './grpc-client.js'
import { startService } from './harness.js'
import { randomCalls } from './random-calls.js'
import { runRebuild } from './saga-rebuild.js'

/** The last migration of the release whose reporters wrote the rows of the fixture. */
const lastMigration = '20261123000000_saga_errors_in_batch'
const rows = new URL('./fixtures/rows-of-ingest-function.sql', import.meta.url)
const limits = { SAGA_PAYLOAD_BYTES_MAX: '8192', SAGA_ERRORS_BYTES_MAX: '4096' }

const adminUrl = () => process.env.SWITCHYARD_TEST_DATABASE_URL ?? ''
const name = `switchyard_upgrade_${randomBytes(5).toString('hex')}`

let url: string
let database: Database
let before: Awaited<ReturnType<typeof deriveFromLog>>
let reporters: Awaited<ReturnType<typeof startService>>[]

beforeAll(async () => {
  await execute(adminUrl(), `CREATE DATABASE ${name}`)
  const target = new URL(adminUrl())
  target.pathname = `/${name}`
  url = target.href
  await execute(url, await releaseBefore())
  await execute(url, await readFile(rows, 'utf8'))
  expect((await applyMigrations(url)).migrations.length).toBeGreaterThan(0)
  database = createDatabase({ url, poolSizeMax: 2, applicationName: 'test' })
  before = await deriveFromLog(database)
  reporters = [await startService(url, limits), await startService(url, limits)]
}, 120_000)
afterAll(async () => {
  for (const reporter of reporters ?? []) await reporter.close()
  await database?.close()
  await execute(adminUrl(), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
})

async function execute(databaseUrl: string, sql: string): Promise<void> {
  const { pool, close } = createDatabase({ url: databaseUrl, poolSizeMax: 1, applicationName: 'test' })
  try {
    await pool.query(sql)
  } finally {
    await close()
  }
}

/** The schema of the release before, recorded as `prisma migrate deploy` records it. */
async function releaseBefore(): Promise<string> {
  const migrations = (await listShippedMigrations()).filter((migration) => migration.name <= lastMigration)
  const records = migrations.map(({ name: migration, sql }) => {
    const checksum = createHash('sha256').update(sql).digest('hex')
    return `('${migration}', '${checksum}', now(), '${migration}', 1)`
  })
  return `${migrations.map(({ sql }) => sql).join('\n')}
    CREATE TABLE _prisma_migrations (
      id varchar(64) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
      migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0);
    INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
    VALUES ${records.join(', ')};`
}

const report = (operation: Operation, fields: Fields, metadata: Record<string, string> = {}) =>
  (reporters[0] as (typeof reporters)[0]).grpc.report(operation, fields, { metadata })

it('keeps every row of the release before, and its rows follow from its log', async () => {
  const { code, lines } = await runRebuild(url, '--verify')
  expect(lines).toHaveLength(1)
  expect(code).toBe(0)
  expect(before.stored.sagas.map(({ id }) => id)).toEqual(['failed', 'open', 'slow'])
  expect(await readLog(database, 't1')).not.toHaveLength(0)
})

it('goes on with sagas, parked activities, known events and removed sagas of the release before', async () => {
  const messageOf = async (...call: Parameters<typeof report>) => (await report(...call)).message
  const open = await messageOf(
    'SagaStarted',
    { sagaId: 'x', serviceName: 'x' },
    { 'x-event-id': 'open-started' },
  )
  expect(open).toBe('duplicate')
  const again: Fields = { activityId: 'open-1', resultData: Buffer.from('{"ok":true}') }
  expect(await messageOf('ActivityEnded', again)).toBe('duplicate')
  expect(
    await messageOf('ActivityExecuteStarted', { activityId: 'parked-1', sagaId: 'open', order: 3 }),
  ).toBe('late')
  expect(
    await messageOf('ActivityExecuteStarted', { activityId: 'parked-2', sagaId: 'open', order: 4 }),
  ).toBe('late')
  expect(await messageOf('ActivityCompensated', { activityId: 'open-2' })).toBe('recorded')
  expect(await messageOf('SagaEnded', { sagaId: 'open' })).toBe('recorded')
  expect(await messageOf('SagaEnded', { sagaId: 'purged' })).toBe('late')
  expect(await messageOf('ActivityEnded', { activityId: 'purged-1' })).toBe('late')
  expect(await messageOf('ActivityCompensated', { activityId: 'failed-1' })).toBe('recorded')

  const { rows: errors } = await database.pool.query<{ id: string; text: string }>(
    `SELECT activity_id AS id, text FROM saga_errors WHERE saga_id = 'open' ORDER BY activity_id`,
  )
  expect(errors).toEqual([
    { id: 'open-2', text: 'no stock' },
    { id: 'parked-2', text: 'Parked with errors' },
  ])
})

it('leads to rows that follow from the whole log after more random calls over two reporters', async () => {
  for (const tenant of ['t1', 't2']) {
    await Promise.all(
      randomCalls(80).map(([operation, fields], index) =>
        reporters[index % 2]?.grpc.report(operation, fields, {
          metadata: {
            'x-tenant': tenant,
            ...(index % 3 === 0 ? { 'x-event-id': `${tenant}-${index}` } : {}),
          },
        }),
      ),
    )
  }
  const { code, lines } = await runRebuild(url, '--verify')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/; 0 differences, 0 repaired$/)
  expect(code).toBe(0)
})
