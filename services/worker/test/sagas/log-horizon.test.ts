import { EventEmitter, once } from 'node:events'
import { createDatabase, type Database } from '@switchyard/db'
import { createSagaEventStore, readLastPosition, readLogWriters } from '@switchyard/saga-store'
import { createTestDatabase, type TestDatabase } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readCountedPosition, readNewlyEnded } from '../../src/sagas/metrics-store.js'
import { writeSweepPosition } from '../../src/sweeps.js'
import { followFinishedSagas } from '../../src/webhooks/saga-events.js'
import { readSagaCursor } from '../../src/webhooks/saga-events-store.js'
import { ago, ended, received, report, started } from '../saga-events.js'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 4, applicationName: 'test' })
})

afterAll(async () => {
  await database.close()
  await testDatabase.close()
})

const follow = () =>
  followFinishedSagas({ database, externalUrl: undefined, signal: new AbortController().signal })

const eventsOf = (id: string, service: string) =>
  [started(id, service), ended(id)].map((event) => received(event, ago(1), 'default'))

it('ended sagas are counted and delivered to webhooks even when a transaction with older ids commits later', async () => {
  const before = await readLastPosition(database)
  const ending = new EventEmitter()
  const slow = createSagaEventStore(database).recordWithin(async ({ record }) => {
    await record(eventsOf('slow', 'orders'))
    ending.emit('recorded')
    await once(ending, 'released')
  })
  await once(ending, 'recorded')
  await report(database, [
    [started('quick', 'stock'), 2],
    [ended('quick'), 1],
  ])
  const [writer = ''] = await readLogWriters(database)
  const counting = readNewlyEnded(database, before)
  const following = follow()
  // Gives readers that do not wait time to miss the older ids. PostgreSQL lists a reader of the last id as a
  // writer while it reads.
  for (let n = 0; n < 5; n += 1) expect(await readLogWriters(database)).toContain(writer)
  ending.emit('released')
  await slow
  const { ended: found, position } = await counting
  expect(found.map(({ serviceName }) => serviceName).sort()).toEqual(['orders', 'stock'])
  expect(position).toBe(await readLastPosition(database))
  await following
  expect((await readSagaCursor(database)).position).toBe(String(position))
})

it('a transaction that writes no event delays nothing', async () => {
  const client = await database.pool.connect()
  try {
    await client.query("BEGIN; INSERT INTO saga_tombstones (tenant, kind, id) VALUES ('t', 'saga', 'x')")
    const before = await readLastPosition(database)
    await report(database, [[started('other'), 1]])
    expect((await readNewlyEnded(database, before)).position).toBeGreaterThan(before)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
})

it('an event that stays invisible holds the position back', async () => {
  const before = await readLastPosition(database)
  const client = await database.pool.connect()
  try {
    await client.query("BEGIN; SELECT nextval('saga_events_id_seq')")
    expect(await readNewlyEnded(database, before)).toEqual({ ended: [], position: before, isAtEnd: true })
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
})

it('both continue after a restore on another server with lower transaction ids', async () => {
  await database.pool.query(
    'UPDATE webhook_cursors SET horizon = 5, horizon_xid = 1000000000000, position = 0',
  )
  await writeSweepPosition(database, 'figures', { ended: ['1', '7', '1000000000000'] })
  await follow()
  const last = await readLastPosition(database)
  expect((await readSagaCursor(database)).position).toBe(String(last))
  expect((await readNewlyEnded(database, await readCountedPosition(database))).position).toBe(last)
})
