import { contentHash } from '@switchyard/domain/saga'
import { createSagaEventStore } from '@switchyard/saga-store'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startHarness, startService } from '../harness.js'
import { randomCalls } from '../random-calls.js'
import { runRebuild } from './saga-rebuild.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let second: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  harness = await startHarness({ SAGA_PAYLOAD_BYTES_MAX: '8192' })
  second = await startService(harness.databaseUrl, { SAGA_PAYLOAD_BYTES_MAX: '8192' })
})
afterAll(async () => {
  await second.close()
  await harness.close()
})
beforeEach(async () => {
  await harness.database.pool.query(
    'TRUNCATE sagas, saga_activities, saga_errors, saga_events, saga_event_ids, saga_tombstones',
  )
})

const rebuild = (...options: string[]) => runRebuild(harness.serviceUrl, ...options)

/** Reports random histories through two reporters at once. */
async function report(count: number, tenant: string): Promise<void> {
  await Promise.all(
    randomCalls(count).map(([operation, fields], index) =>
      (index % 2 === 0 ? harness : second).grpc.report(operation, fields, {
        metadata: {
          'x-tenant': tenant,
          ...(index % 3 === 0 ? { 'x-event-id': `${tenant}-${index % 50}` } : {}),
          ...(index % 5 === 0 ? { 'x-attempt': String(index % 2) } : {}),
        },
      }),
    ),
  )
}

it('a rebuild finds no difference after any history', async () => {
  await report(150, 't1')
  await report(150, 't2')
  await harness.grpc.report('ActivityEnded', { activityId: 'parked' })
  await harness.grpc.report('ActivityCompensateAborted', { activityId: 'failed', sagaId: 'resolved' })
  const resolution = { sagaId: 'resolved', author: 'root', note: 'refunded by hand' }
  const request = Buffer.from(JSON.stringify(resolution))
  await createSagaEventStore(harness.database).record([
    {
      tenant: 'default',
      event: { operation: 'OperatorResolved', ...resolution },
      receivedAt: new Date(),
      eventId: 'resolution',
      eventTime: null,
      contentKey: contentHash({ operation: 'OperatorResolved', request, eventSeq: null, attempt: null }),
      request,
    },
  ])
  const { code, lines } = await rebuild('--verify')
  expect(lines.at(-1)).toMatch(/follow from the log; 0 differences, 0 repaired$/)
  expect(lines).toHaveLength(1)
  expect(code).toBe(0)
})

it('a rebuild reports every differing row, and repairs it', async () => {
  await harness.grpc.report('SagaStarted', { sagaId: 's', serviceName: 'booking' })
  await harness.grpc.report('ActivityExecuteStarted', {
    sagaId: 's',
    activityId: 'a',
    parameterData: Buffer.from('secret'),
  })
  await harness.grpc.report('ActivityEnded', { activityId: 'early' })
  await harness.grpc.report('ActivityExecuteStarted', { sagaId: 's', activityId: 'early' })
  await harness.grpc.report('ActivityRevoked', { activityId: 'parked' })
  await harness.grpc.report('SagaEnded', { sagaId: 's' })
  await report(100, 'other')
  const { pool } = harness.database
  await pool.query(`UPDATE sagas SET status = 'Started', outcome = NULL WHERE tenant = 'default' AND id = 's';
    UPDATE saga_activities SET status = 'Revoked', parameter_data = 'x' WHERE tenant = 'default' AND id = 'a';
    UPDATE saga_activities SET saga_id = NULL WHERE tenant = 'default' AND id = 'early';
    DELETE FROM saga_activities WHERE tenant = 'default' AND id = 'parked'`)
  const differences = [
    'sagas default/s: differs in status, outcome',
    'saga_activities default/a: differs in status, parameterData',
    'saga_activities default/early: differs in sagaId',
    'saga_activities default/parked: is missing',
  ]
  const verified = await rebuild('--verify')
  expect(verified.lines.slice(0, -1).sort()).toEqual([...differences].sort())
  expect(verified.lines.at(-1)).toMatch(/; 4 differences, 0 repaired$/)
  expect(verified.code).toBe(1)
  expect((await rebuild('--verify', '--tenant', 'other')).code).toBe(0)

  const repaired = await rebuild()
  expect(repaired.lines.at(-1)).toMatch(/; 4 differences, 4 repaired$/)
  expect(repaired.code).toBe(0)
  expect((await rebuild('--verify')).lines).toHaveLength(1)
  // Reporters continue with the repaired rows.
  const answer = await harness.grpc.report('ActivityCompensated', { activityId: 'a' })
  expect(answer).toMatchObject({ isSuccess: true, message: 'recorded' })
  expect((await rebuild('--verify')).code).toBe(0)
})

it('a rebuild skips sagas that retention removed, and reports rows without events without deleting them', async () => {
  await harness.grpc.report('SagaStarted', { sagaId: 'gone', serviceName: 'booking' })
  await harness.grpc.report('ActivityRevoked', { activityId: 'gone-parked' })
  const { pool, prisma } = harness.database
  await pool.query(`DELETE FROM sagas WHERE id = 'gone'; DELETE FROM saga_activities WHERE id = 'gone-parked';
    INSERT INTO saga_tombstones (tenant, kind, id) VALUES ('default', 'saga', 'gone'), ('default', 'activity', 'gone-parked')`)
  expect((await rebuild('--verify')).code).toBe(0)
  await pool.query(
    `INSERT INTO sagas (tenant, id, status, first_seen_at, last_event_at) VALUES ('default', 'stray', 'Started', now(), now())`,
  )
  const { code, lines } = await rebuild()
  expect(lines).toContain('sagas default/stray: has no event in the log')
  expect(code).toBe(1)
  expect(await prisma.saga.count({ where: { id: 'stray' } })).toBe(1)
})

it('a rebuild is correct while events are reported', async () => {
  const reporting = Promise.all(['t1', 't2', 't3'].map((tenant) => report(200, tenant)))
  const runs = await Promise.all([rebuild('--verify'), rebuild()])
  await reporting
  expect(runs.map(({ code, lines }) => [code, lines.slice(0, -1)])).toEqual([
    [0, []],
    [0, []],
  ])
})
