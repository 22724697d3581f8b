import { randomBytes } from 'node:crypto'
import { createDatabase, type Database } from '@switchyard/db'
import { createSagaEventStore } from '@switchyard/saga-store'
import { createTestDatabase, type TestDatabase, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAnalyzeNewTables } from '../../src/report/analyze-new-tables.js'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  // The role that reports does not have the rights of the owner.
  const url = testDatabase.urlOf('saga-reporter')
  database = createDatabase({ url, poolSizeMax: 2, applicationName: 'test' })
})
afterAll(async () => {
  await database.close()
  await testDatabase.close()
})

const sagas = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => ({
    tenant: 't',
    event: {
      operation: 'SagaStarted' as const,
      sagaId: `${name}-${n}`.padEnd(60, '-'),
      serviceName: 'orders',
      addTime: null,
    },
    receivedAt: new Date(),
    eventId: randomBytes(30).toString('hex'),
    eventTime: null,
    contentKey: randomBytes(16),
    request: Buffer.from(''),
  }))

/** Returns the row estimate of a table; -1: it has never been analyzed. */
async function countedRows(table: string): Promise<number> {
  const text = 'SELECT reltuples::int AS rows FROM pg_class WHERE oid = $1::regclass'
  return (await database.pool.query<{ rows: number }>(text, [table])).rows[0]?.rows ?? 0
}

it('the tables of a new database are analyzed when they have their first rows', async () => {
  const failures: unknown[] = []
  const onCommitted = createAnalyzeNewTables(database, (error) => failures.push(error))
  const store = createSagaEventStore(database, { onCommitted })
  await store.record(sagas(1, 'few'))
  expect([await countedRows('sagas'), await countedRows('saga_event_ids')]).toEqual([-1, -1])
  for (let n = 0; (await countedRows('saga_event_ids')) < 0 && n < 500; n += 1)
    await store.record(sagas(500, `${n}`))
  await waitFor(async () => (await countedRows('sagas')) > 400)
  expect(await countedRows('saga_event_ids')).toBeGreaterThan(400)
  expect(await countedRows('saga_activities')).toBe(-1)
  expect(failures).toEqual([])
})
