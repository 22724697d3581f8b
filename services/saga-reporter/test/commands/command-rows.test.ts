import { createDatabase, type Database, type Pooled } from '@switchyard/db'
import { createLogger } from '@switchyard/service-kit/observability'
import { createTestDatabase, type TestDatabase } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
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

it('commands for a caller that has disconnected are returned all at once', async () => {
  await addCommands(50, 600)
  const gone = new AbortController()
  let statements = 0
  const query = async (given: never) => {
    const answer = await database.pool.query(given)
    statements += 1
    gone.abort()
    return answer
  }
  const observed = { pool: { query } } as unknown as Pooled
  const waiting = new CommandWaiting({ database: observed, logger: createLogger('test', 'silent') })
  const wanted = { tenant: 'default', serviceName: 'booking', take: 50, leaseSeconds: 60, worker: 'test' }
  await leaseCommands(
    { database: observed, waiting },
    { ...wanted, exceptIds: new Set() },
    { waitMs: 0, sender: 'test', signal: gone.signal },
  )
  expect(statements).toBe(2)
  const { total, commands } = await listed('pending')
  expect([total, new Set(commands.map(({ deliveries }) => deliveries))]).toEqual([50, new Set([0])])
})
