import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchDatabase, type ScratchDatabase } from '../scripts/scratch-database.js'
import {
  checkDatabase,
  createDatabase,
  type Database,
  type DatabaseOrTransaction,
  inTransaction,
  isDatabaseUnavailable,
} from '../src/index.js'
import { applyMigrations } from '../src/migrations/index.js'

let scratch: ScratchDatabase
let database: Database

function open(url: string): Database {
  return createDatabase({ url, poolSizeMax: 2, applicationName: 'client-test' })
}

const limited = (text: string, values: unknown[]) => ({ text, values, query_timeout: 5000 })

async function createUser({ prisma }: DatabaseOrTransaction, username: string) {
  const email = `${username}@example.com`
  return prisma.user.create({
    data: { username, usernameKey: username, name: username, email, emailKey: email },
  })
}

beforeAll(async () => {
  scratch = await createScratchDatabase()
  await applyMigrations(scratch.url)
  database = open(scratch.url)
})

afterAll(async () => {
  await database.close()
  await scratch.drop()
})

test('a client that was used only for SQL closes its pool', async () => {
  const handle = open(scratch.url)
  await handle.pool.query('SELECT 1')
  await handle.close()
  expect(handle.pool.ended).toBe(true)
})

test('a query without an answer fails in time and closes its connection, so that the next query gets another', async () => {
  const handle = createDatabase({
    url: scratch.url,
    poolSizeMax: 1,
    applicationName: 'client-test',
    answerTimeoutMs: 300,
  })
  const silent = 'SELECT pg_sleep(60)'
  try {
    for (const ask of [() => handle.pool.query(silent), () => handle.prisma.$queryRawUnsafe(silent)]) {
      await expect(ask()).rejects.toSatisfy(isDatabaseUnavailable)
      expect((await handle.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    }
  } finally {
    await handle.close()
  }
})

test('a migrated database is ready', async () => {
  await expect(checkDatabase(database)).resolves.toBeUndefined()
})

test('readiness reports soon that the database is down, without its password', async () => {
  const down = open('postgresql://user:top-secret@127.0.0.1:1/switchyard')
  await expect(checkDatabase(down)).rejects.toThrow(/^database does not answer \(ECONNREFUSED\)$/)
  await expect(down.prisma.user.count()).rejects.toThrow(/^(?!.*top-secret).*Can't reach database server/s)
  await down.close()
})

test('a database without the migrations is distinguished from one that is down', async () => {
  const { url, drop } = await createScratchDatabase()
  const empty = open(url)
  await expect(checkDatabase(empty)).rejects.toThrow(/^migrations pending: 0_baseline/)
  await empty.close()
  await drop()
})

test('Prisma and SQL agree on a time, in any time zone of the server', async () => {
  const created = await createUser(database, 'timely')
  const { rows } = await database.pool.query<{ created_at: Date }>(
    'SELECT created_at FROM users WHERE id = $1',
    [created.id],
  )
  expect(rows[0]?.created_at).toEqual(created.createdAt)
  expect(Math.abs(created.createdAt.getTime() - Date.now())).toBeLessThan(60_000)
})

test('a failed transaction changes nothing', async () => {
  const failing = inTransaction(database, async (transaction) => {
    await createUser(transaction, 'half-done')
    throw new Error('second step failed')
  })
  await expect(failing).rejects.toThrow('second step failed')
  expect(await database.prisma.user.count({ where: { username: 'half-done' } })).toBe(0)
})

test('connections cut by the server do not end the process, and the next query connects again', async () => {
  const held = await database.pool.connect()
  const other = open(scratch.url)
  const cut =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'client-test' AND pid <> pg_backend_pid() AND datname = current_database()"
  const { rowCount } = await other.pool.query(cut)
  expect(rowCount).toBeGreaterThan(0)
  await expect(held.query('SELECT 1')).rejects.toThrow()
  held.release(true)
  expect(await database.prisma.user.count({ where: { username: 'nobody' } })).toBe(0)
  await other.close()
})

test('a query returns its result by promise and by callback, with its values beside it or in it, and reports its failure', async () => {
  const client = await database.pool.connect()
  const text = 'SELECT $1::text AS given'
  const callback = (config: string | object, values?: string[]) =>
    new Promise((resolve, reject) => {
      const answer = (error: Error | null, result?: { rows: unknown[] }) =>
        error ? reject(error) : resolve(result?.rows)
      if (values) void client.query(config as string, values, answer)
      else void client.query(config as string, answer)
    })
  try {
    expect((await client.query(text, ['a'])).rows).toEqual([{ given: 'a' }])
    expect((await client.query(limited(text, ['b']))).rows).toEqual([{ given: 'b' }])
    expect(await callback(text, ['c'])).toEqual([{ given: 'c' }])
    expect(await callback(limited(text, ['d']))).toEqual([{ given: 'd' }])
    await expect(client.query('SELECT 1 / $1::integer', [0])).rejects.toMatchObject({ code: '22012' })
    await expect(callback('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' })
  } finally {
    client.release()
  }
})

test('a query that is not answered in time is rejected, and its connection is not used again', async () => {
  const other = open(scratch.url)
  const pidOf = async () =>
    (await other.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid
  const pid = await pidOf()
  const late = { text: 'SELECT pg_sleep(0.5)', query_timeout: 50 }
  await expect(other.pool.query(late)).rejects.toThrow('Query read timeout')
  expect(await pidOf()).not.toBe(pid)
  await other.close()
})
