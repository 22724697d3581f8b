import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness, startService } from '../harness.js'
import { randomCalls } from '../random-calls.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let second: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  harness = await startHarness()
  second = await startService(harness.databaseUrl)
})
afterAll(async () => {
  await second.close()
  await harness.close()
})

interface ErrorRow {
  tenant: string
  id: string
  sagaId: string
  firstSeenAt: Date
  text: string
  folded: string
  fingerprint: string
}

const ask = async (sql: string): Promise<ErrorRow[]> =>
  (await harness.database.pool.query<ErrorRow>(sql)).rows

const kept = () =>
  ask(`SELECT tenant, activity_id AS id, saga_id AS "sagaId", first_seen_at AS "firstSeenAt", text, folded, fingerprint
    FROM saga_errors ORDER BY tenant, activity_id`)

/** Returns the errors of activities with a saga, read from the rows of both. */
const derived = () =>
  ask(`SELECT a.tenant, a.id, a.saga_id AS "sagaId", s.first_seen_at AS "firstSeenAt", given.text,
      lower(given.text) AS folded, a.error_fingerprint AS fingerprint
    FROM saga_activities a JOIN sagas s ON s.tenant = a.tenant AND s.id = a.saga_id
    CROSS JOIN LATERAL concat_ws(E'\n', a.execute_errors, a.compensate_errors) AS given(text)
    WHERE a.execute_errors IS NOT NULL OR a.compensate_errors IS NOT NULL
    ORDER BY a.tenant, a.id`)

it('the table of errors has the latest errors of each activity once, after any history over two reporters', async () => {
  const tenants = ['t1', 't2', 't3', 't4', 'default']
  for (const tenant of tenants) {
    await Promise.all(
      randomCalls(120).map(([operation, fields], index) =>
        (index % 2 === 0 ? harness : second).grpc.report(operation, fields, {
          metadata: { 'x-tenant': tenant },
        }),
      ),
    )
  }
  const rows = await kept()
  expect(new Set(rows.map(({ tenant }) => tenant)).size).toBe(tenants.length)
  expect(rows).toEqual(await derived())
})

it('the table of errors has the errors of a parked activity once its saga is named', async () => {
  const tenant = { metadata: { 'x-tenant': 'parked' } }
  const errorsOf = async () => (await kept()).filter((row) => row.tenant === 'parked')
  await harness.grpc.report('ActivityExecuteAborted', { activityId: 'early', errors: 'No Stock' }, tenant)
  expect(await errorsOf()).toEqual([])
  await harness.grpc.report('ActivityExecuteStarted', { sagaId: 'late', activityId: 'early' }, tenant)
  expect(await errorsOf()).toMatchObject([
    { id: 'early', sagaId: 'late', text: 'No Stock', folded: 'no stock' },
  ])
  await harness.grpc.report('ActivityCompensateAborted', { activityId: 'early', errors: 'and again' }, tenant)
  expect(await errorsOf()).toMatchObject([{ id: 'early', text: 'No Stock\nand again' }])
})
