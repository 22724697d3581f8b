import { createHash } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLink } from '../cuttable-link.js'
import { deriveFromLog, readLog } from '../event-log.js'
import { encode, type Fields, type Operation, reportAll } from '../grpc-client.js'
import { startHarness, startService } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness({ SAGA_PAYLOAD_BYTES_MAX: '4096' })
})
afterAll(() => harness.close())

/** Starts another instance with other settings. */
async function withService<Result>(
  env: Record<string, string>,
  use: (service: Awaited<ReturnType<typeof startService>>) => Promise<Result>,
  databaseUrl = harness.databaseUrl,
): Promise<Result> {
  const service = await startService(databaseUrl, env)
  try {
    return await use(service)
  } finally {
    await service.close()
  }
}

const started = (sagaId: string): Fields => ({ sagaId, serviceName: 'booking' })
const tenantOf = (tenant: string) => ({ metadata: { 'x-tenant': tenant } })

it('SAGA_STRICT refuses events out of order, leaves no trace of them, and accepts repetitions', async () => {
  const calls: [Operation, Fields, string][] = [
    ['ActivityExecuteStarted', { activityId: 'a', sagaId: 's' }, 'SAGA_UNKNOWN'],
    ['ActivityEnded', { activityId: 'a' }, 'SAGA_UNKNOWN'],
    ['SagaEnded', { sagaId: 's' }, 'SAGA_UNKNOWN'],
    ['SagaStarted', started('s'), 'recorded'],
    ['SagaStarted', started('s'), 'duplicate'],
    ['ActivityExecuteStarted', { activityId: 'a', sagaId: 's' }, 'recorded'],
    ['ActivityEnded', { activityId: 'a', sagaId: 's' }, 'recorded'],
    ['ActivityEnded', { activityId: 'a', sagaId: 's' }, 'duplicate'],
    ['ActivityRevoked', { activityId: 'a' }, 'TRANSITION_NOT_ALLOWED'],
    ['SagaEnded', { sagaId: 's' }, 'recorded'],
    ['ActivityCompensated', { activityId: 'a' }, 'SAGA_ALREADY_ENDED'],
    ['SagaEnded', { sagaId: 's' }, 'duplicate'],
  ]
  await withService({ SAGA_STRICT: 'true' }, async ({ grpc }) => {
    for (const [operation, fields, expected] of calls) {
      const { isSuccess, message, errors } = await grpc.report(operation, fields, tenantOf('strict'))
      const answer = isSuccess ? message : errors.slice(0, errors.indexOf(':'))
      expect(`${operation} ${answer}`).toBe(`${operation} ${expected}`)
    }
  })
  const recorded = calls.filter(([, , expected]) => expected === 'recorded')
  const log = await readLog(harness.database, 'strict')
  expect(log.map(({ operation }) => operation)).toEqual(recorded.map(([operation]) => operation))
  const { stored, derived } = await deriveFromLog(harness.database, 'strict')
  expect(stored).toEqual(derived)
})

it('SAGA_SERVICE_NAME_OPTIONAL accepts sagas without a service', async () => {
  await withService({ SAGA_SERVICE_NAME_OPTIONAL: 'true' }, async ({ grpc }) => {
    expect(await grpc.report('SagaStarted', { sagaId: 'nameless' }, tenantOf('nameless'))).toMatchObject({
      isSuccess: true,
      message: 'recorded',
    })
  })
})

it('SAGA_UNAVAILABLE_AS_FAILURE answers that an event cannot be stored now', async () => {
  const link = await startLink(harness.databaseUrl)
  const env = { SAGA_UNAVAILABLE_AS_FAILURE: 'true' }
  try {
    await withService(
      env,
      async ({ grpc }) => {
        link.cut()
        expect(await grpc.report('SagaStarted', started('folded'))).toEqual({
          isSuccess: false,
          message: 'temporarily unavailable',
          errors: 'UNAVAILABLE: events cannot be stored',
        })
        link.mend()
        expect(await grpc.report('SagaStarted', started('folded'))).toMatchObject({ message: 'recorded' })
      },
      link.url,
    )
    await withService(
      { ...env, SAGA_AUTH: 'token' },
      async ({ grpc }) => {
        link.cut()
        const metadata = { 'private-token': 'glpat-nobody-can-look-up' }
        expect(await grpc.report('SagaStarted', started('folded'), { metadata })).toEqual({
          isSuccess: false,
          message: 'temporarily unavailable',
          errors: 'UNAVAILABLE: tokens cannot be checked',
        })
      },
      link.url,
    )
  } finally {
    link.close()
  }
})

describe('with a slow database', () => {
  /** Blocks every writer of the log, once the first event waits for it. */
  async function whileHeld(
    use: (hold: { untilWaiting: () => Promise<unknown>; release: () => Promise<void> }) => Promise<void>,
  ) {
    const client = await harness.database.pool.connect()
    const release = async () => void (await client.query('COMMIT'))
    const untilWaiting = () =>
      waitFor(async () => {
        // A separate connection is needed, because PostgreSQL shows a transaction the same activity until its
        // end.
        const { rows } = await harness.database.pool.query(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
        return rows.length > 0
      })
    try {
      await client.query('BEGIN; LOCK TABLE saga_events IN ACCESS EXCLUSIVE MODE')
      await use({ untilWaiting, release })
    } finally {
      await release()
      client.release()
    }
  }

  it('an event that is not written by its deadline is dropped; an event that is being written is kept', async () => {
    const options = tenantOf('deadlines')
    await withService({ SAGA_INGEST_LANES: '1' }, ({ grpc }) =>
      whileHeld(async ({ untilWaiting, release }) => {
        const expired = { code: status.DEADLINE_EXCEEDED }
        const writing = grpc.report('SagaStarted', started('writing'), { ...options, deadlineMs: 1500 })
        await untilWaiting()
        const waiting = grpc.report('SagaStarted', started('waiting'), { ...options, deadlineMs: 300 })
        const patient = grpc.report('SagaStarted', started('patient'), options)
        await Promise.all([
          expect(writing).rejects.toMatchObject(expired),
          expect(waiting).rejects.toMatchObject(expired),
        ])
        await release()
        expect(await patient).toMatchObject({ message: 'recorded' })
        expect(await grpc.report('SagaStarted', started('writing'), options)).toMatchObject({
          message: 'duplicate',
        })
      }),
    )
    const log = await readLog(harness.database, 'deadlines')
    expect(log.map(({ sagaId }) => sagaId)).toEqual(['writing', 'patient'])
  })

  it('a full queue refuses at once with a delay for a retry, and writes the accepted events', async () => {
    const options = tenantOf('queue')
    await withService({ SAGA_INGEST_LANES: '1', SAGA_INGEST_QUEUE_MAX: '3' }, ({ grpc }) =>
      whileHeld(async ({ untilWaiting, release }) => {
        const first = grpc.report('SagaStarted', started('q-0'), options)
        await untilWaiting()
        const others = Array.from({ length: 8 }, (_, index) =>
          grpc.report('SagaStarted', started(`q-${index + 1}`), options),
        )
        const settled: PromiseSettledResult<unknown>[] = []
        for (const call of others) {
          call.then(
            (value) => settled.push({ status: 'fulfilled', value }),
            (reason) => settled.push({ status: 'rejected', reason }),
          )
        }
        await waitFor(() => settled.length === 5, { what: 'five refusals' })
        for (const outcome of settled) {
          expect(outcome).toMatchObject({
            reason: { code: status.UNAVAILABLE, details: 'too many events wait' },
          })
          const { metadata } = (outcome as PromiseRejectedResult).reason
          expect(`${metadata.get('grpc-status-details-bin')}`).toContain('google.rpc.RetryInfo')
        }
        await release()
        expect(await first).toMatchObject({ message: 'recorded' })
        await waitFor(() => settled.length === 8, { what: 'the others' })
        expect(settled.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(3)
      }),
    )
    expect(await readLog(harness.database, 'queue')).toHaveLength(4)
  })
})

it('a payload over the limit is accepted; its size, its digest and its head are stored', async () => {
  const tenant = 'capped'
  const whole = Buffer.from(Array.from({ length: 10_000 }, (_, index) => index % 251))
  const sha256 = Uint8Array.from(createHash('sha256').update(whole).digest())
  const calls: [Operation, Fields][] = [
    ['ActivityExecuteStarted', { activityId: 'a', sagaId: 's', parameterData: whole }],
    ['ActivityEnded', { activityId: 'a', resultData: whole }],
  ]
  expect(await reportAll(harness.grpc, [...calls, ...calls], tenantOf(tenant))).toEqual([
    'recorded',
    'recorded',
    'duplicate',
    'duplicate',
  ])
  const activity = await harness.database.prisma.sagaActivity.findUniqueOrThrow({
    where: { tenant_id: { tenant, id: 'a' } },
  })
  const head = Uint8Array.from(whole.subarray(0, 4096))
  expect(activity).toMatchObject({
    parameterData: head,
    parameterSize: 10_000,
    parameterSha256: sha256,
    resultData: head,
    resultSize: 10_000,
    resultSha256: sha256,
  })
  const log = await readLog(harness.database, tenant)
  expect(log.map(({ payloadSize, payloadSha256 }) => [payloadSize, payloadSha256])).toEqual([
    [10_000, sha256],
    [10_000, sha256],
  ])
  for (const { request } of log) expect(request.length).toBeLessThan(5000)
  // Another payload with the same head is a different one.
  const other = Buffer.concat([whole.subarray(0, 9999), Buffer.from('!')])
  expect(
    await reportAll(
      harness.grpc,
      [['ActivityEnded', { activityId: 'a', resultData: other }]],
      tenantOf(tenant),
    ),
  ).toEqual(['conflict recorded'])
})

describe('data beside the contract', () => {
  it('addTime in SagaStarted is the time of its start', async () => {
    // Field 3, which older clients send although the contract does not have it.
    const addTime = Buffer.from('2026-03-09 05:13:08.123')
    const request = Buffer.concat([
      encode('SagaStarted', started('added')),
      Buffer.from([0x1a, addTime.length]),
      addTime,
    ])
    expect(await harness.grpc.send('SagaStarted', request, tenantOf('added'))).toMatchObject({
      message: 'recorded',
    })
    const saga = await harness.database.prisma.saga.findUniqueOrThrow({
      where: { tenant_id: { tenant: 'added', id: 'added' } },
    })
    expect(saga.addTime).toEqual(new Date('2026-03-09T05:13:08.123Z'))
    const unreadable = Buffer.concat([encode('SagaStarted', started('never')), Buffer.from([0x1a, 1, 0x78])])
    expect(await harness.grpc.send('SagaStarted', unreadable, tenantOf('added'))).toMatchObject({
      isSuccess: false,
      errors: expect.stringMatching('^ADD_TIME_INVALID: '),
    })
  })

  it('x-attempt distinguishes an abort before a retry from an abort of the retry', async () => {
    const tenant = 'attempts'
    const abort: [Operation, Fields] = ['ActivityExecuteAborted', { activityId: 'a', errors: 'no seat' }]
    const statusOf = async () =>
      (
        await harness.database.prisma.sagaActivity.findUniqueOrThrow({
          where: { tenant_id: { tenant, id: 'a' } },
        })
      ).status
    await reportAll(
      harness.grpc,
      [
        ['SagaStarted', started('s')],
        ['ActivityExecuteStarted', { activityId: 'a', sagaId: 's' }],
        ['ActivityRetried', { activityId: 'a', retries: 1, activityRetryType: 0 }],
      ],
      tenantOf(tenant),
    )
    const metadata = { 'x-tenant': tenant, 'x-event-seq': '7', 'x-tag': ['order=42', 'region=eu'] }
    await harness.grpc.report(...abort, { metadata: { ...metadata, 'x-attempt': '0' } })
    expect(await statusOf()).toBe('Executing')
    await harness.grpc.report(...abort, { metadata: { ...metadata, 'x-attempt': '1' } })
    expect(await statusOf()).toBe('ExecuteAborted')
    const log = await readLog(harness.database, tenant)
    expect(log.slice(-2)).toMatchObject([
      { eventSeq: 7n, attempt: 0 },
      { eventSeq: 7n, attempt: 1 },
    ])
    expect(
      await harness.database.prisma.sagaTag.findMany({ where: { tenant }, orderBy: { tag: 'asc' } }),
    ).toMatchObject([
      { sagaId: 's', tag: 'order=42' },
      { sagaId: 's', tag: 'region=eu' },
    ])
    const { stored, derived } = await deriveFromLog(harness.database, tenant)
    expect(stored).toEqual(derived)
  })
})
