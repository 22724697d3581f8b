import { createDatabase, type Database } from '@switchyard/db'
import { readNewlyEnded } from '@switchyard/saga-store'
import { createTestDatabase, type TestDatabase } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chooseHorizon, visibleHorizon } from '../src/webhooks/saga-events-store.js'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' })
})

afterAll(async () => {
  await database.close()
  await testDatabase.close()
})

/** A transaction id that only the server that a backup came from has reached. */
const xidOfOtherServer = '1000000000000'

it('webhooks of sagas go on after a restore on another server, whose transaction ids are lower', async () => {
  await chooseHorizon(database, '5')
  await database.pool.query('UPDATE webhook_cursors SET horizon_xid = $1', [xidOfOtherServer])
  expect(await visibleHorizon(database)).toBe('5')
})

it('ended sagas are counted on after a restore on another server', async () => {
  const restored = { position: '0', horizon: '7', horizonXid: xidOfOtherServer }
  const { cursor } = await readNewlyEnded(database, restored)
  expect(cursor).toMatchObject({ position: '7', horizonXid: expect.not.stringMatching(xidOfOtherServer) })
})

it('an event whose transaction still runs holds both back', async () => {
  const client = await database.pool.connect()
  try {
    const { rows } = await client.query('BEGIN; SELECT pg_current_xact_id()::text AS xid').then((results) => {
      const [, result] = results as unknown as { rows: { xid: string }[] }[]
      return result ?? { rows: [] }
    })
    const later = String(BigInt(rows[0]?.xid ?? 0) + 1n)
    await database.pool.query('UPDATE webhook_cursors SET horizon = 9, horizon_xid = $1', [later])
    expect(await visibleHorizon(database)).toBeNull()
    const waiting = { position: '0', horizon: '9', horizonXid: later }
    expect((await readNewlyEnded(database, waiting)).cursor).toEqual(waiting)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
})
