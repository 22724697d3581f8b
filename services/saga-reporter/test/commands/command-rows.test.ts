import { createDatabase, type Database } from '@switchyard/db'
import { createLogger } from '@switchyard/service-kit/observability'
import { createTestDatabase, type TestDatabase } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { leaseCommands } from '../../src/commands/commands.js'
import { listCommands } from '../../src/commands/store.js'
import { CommandWaiting } from '../../src/commands/waiting.js'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 4, applicationName: 'test' })
})
afterAll(async () => {
  await database?.close()
  await testDatabase?.close()
})
beforeEach(() => database.pool.query('TRUNCATE saga_commands'))

/** Adds pending commands that expire after this many seconds. */
const addCommands = (count: number, seconds: number) =>
  database.pool.query(
    `INSERT INTO saga_commands (tenant, saga_id, service_name, kind, reason, state, author_id, author_name,
       expires_at, due_at)
     SELECT 'default', n::text, 'booking', 'cancel', '', 'pending', 1, 'root', until, until
     FROM generate_series(1, $1) n, (SELECT now() + $2 * interval '1 second' AS until) times`,
    [count, seconds],
  )
const listed = (state: 'expired' | 'pending') =>
  listCommands(database, { tenant: 'default', state }, { skip: 0, take: 100 })

it('commands whose time is up count as expired, however many there are', async () => {
  await addCommands(2500, -1)
  expect(await listed('expired')).toMatchObject({ total: 2500 })
})

const wanted = { tenant: 'default', serviceName: 'booking', exceptIds: new Set<string>() }

it('commands for a caller that has disconnected are returned all at once', async () => {
  await addCommands(50, 600)
  const gone = new AbortController()
  let statements = 0
  const count = () => {
    statements += 1
  }
  const disconnect = () => gone.abort()
  database.pool.on('acquire', count).on('release', disconnect)
  const waiting = new CommandWaiting({ database, logger: createLogger('test', 'silent') })
  const leasing = { ...wanted, take: 50, leaseSeconds: 60, worker: 'test' }
  const call = { waitMs: 0, sender: 'test', signal: gone.signal }
  await leaseCommands({ database, waiting }, leasing, call)
  database.pool.off('acquire', count).off('release', disconnect)
  expect(statements).toBe(2)
  const { total, commands } = await listed('pending')
  expect([total, new Set(commands.map(({ deliveries }) => deliveries))]).toEqual([50, new Set([0])])
})

it('while calls wait for commands, an outage is logged once, and its end as well', async () => {
  const logger = createLogger('test', 'silent')
  const [warned, told] = [vi.spyOn(logger, 'warn'), vi.spyOn(logger, 'info')]
  let attempts = 0
  const count = () => {
    attempts += 1
  }
  const waiting = new CommandWaiting({ database, logger })
  await database.pool.query('ALTER TABLE saga_commands RENAME TO away')
  database.pool.on('acquire', count)
  try {
    const waited = waiting.wait(wanted, 60_000, new AbortController().signal)
    await expect.poll(() => attempts).toBeGreaterThan(2)
    await database.pool.query('ALTER TABLE away RENAME TO saga_commands')
    await expect.poll(() => told.mock.calls.length).toBe(1)
    waiting.close()
    await waited
  } finally {
    database.pool.off('acquire', count)
    await database.pool.query('ALTER TABLE IF EXISTS away RENAME TO saga_commands')
  }
  expect(warned).toHaveBeenCalledTimes(1)
})
