import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import {
  type ClaimRequest,
  type ClaimResponse,
  type CompleteResponse,
  type ExtendResponse,
  Resolution,
  SagaRecoveryClient,
} from '@switchyard/contracts/saga-recovery'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTokens, startHarness, startService } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let replica: Awaited<ReturnType<typeof startService>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let clients: SagaRecoveryClient[] = []
let service = ''
let count = 0

beforeAll(async () => {
  harness = await startHarness({ SAGA_AUTH: 'token' })
  replica = await startService(harness.databaseUrl, { SAGA_AUTH: 'token' })
  tokens = await createTokens(harness.database)
  clients = [harness, replica].map(
    ({ grpcPort }) => new SagaRecoveryClient(`127.0.0.1:${grpcPort}`, credentials.createInsecure()),
  )
})
afterAll(async () => {
  for (const client of clients) client.close()
  await replica?.close()
  await harness?.close()
})
beforeEach(() => {
  count += 1
  service = `service-${count}`
})

const bearing = (token: string | null): Metadata => {
  const metadata = new Metadata()
  if (token !== null) metadata.set('authorization', `Bearer ${token}`)
  return metadata
}

type Callback<Response> = (error: ServiceError | null, response: Response) => void
const answer = <Response>(call: (callback: Callback<Response>) => unknown) =>
  new Promise<Response>((resolve, reject) => {
    call((error, response) => (error ? reject(error) : resolve(response)))
  })
const codeOf = (work: Promise<unknown>): Promise<number | undefined> =>
  work.then(
    () => status.OK,
    (error: ServiceError) => error.code,
  )

const usual = { tenant: '', max: 0, leaseSeconds: 0, worker: 'test', includeErrors: false, minIdleSeconds: 0 }

async function claim(
  given: Partial<ClaimRequest> = {},
  token: string | null = tokens.reporter,
  client = clients[0],
) {
  const request = { ...usual, serviceName: service, ...given }
  const { sagas } = await answer<ClaimResponse>((callback) =>
    client?.claim(request, bearing(token), callback),
  )
  return sagas
}
const extend = (leaseToken: string, leaseSeconds = 0) =>
  answer<ExtendResponse>((callback) =>
    clients[1]?.extend({ leaseToken, leaseSeconds }, bearing(tokens.reporter), callback),
  )
const complete = (leaseToken: string, resolution: Resolution, note = '') =>
  answer<CompleteResponse>((callback) =>
    clients[1]?.complete({ leaseToken, resolution, note }, bearing(tokens.reporter), callback),
  )

const report = (...[operation, fields]: Parameters<typeof harness.grpc.report>) =>
  harness.grpc.report(operation, fields, { metadata: { 'private-token': tokens.reporter } })

async function startSaga(id: string) {
  await report('SagaStarted', { sagaId: `${service}-${id}`, serviceName: service })
  return `${service}-${id}`
}

describe('a claim', () => {
  it('returns the saga with the data that is needed to finish it, to only one claimer', async () => {
    const id = await startSaga('a')
    const parameterData = Buffer.from('{"seat":"12A"}')
    await report('ActivityExecuteStarted', { sagaId: id, activityId: `${id}-1`, order: 0, parameterData })
    await report('ActivityEnded', { activityId: `${id}-1`, resultData: Buffer.from('"ok"') })
    const [leased, ...others] = await claim()
    expect(others).toEqual([])
    expect(leased).toMatchObject({
      saga: { sagaId: id, serviceName: service, status: 'Started' },
      activities: [
        { activityId: `${id}-1`, status: 'Executed', parameter: { head: parameterData, size: 14 } },
      ],
      attempt: 1,
    })
    const leaseMs = (leased?.leasedUntil?.getTime() ?? 0) - Date.now()
    expect(leaseMs).toBeGreaterThan(50_000)
    expect(leaseMs).toBeLessThan(61_000)
    expect(await claim({}, tokens.reporter, clients[1])).toEqual([])
  })

  it('skips sagas that have ended, that have recent events, or that belong to other services', async () => {
    const ended = await startSaga('ended')
    await report('SagaEnded', { sagaId: ended })
    await startSaga('moving')
    expect(await claim({ minIdleSeconds: 240 })).toEqual([])
    expect(await claim({ minIdleSeconds: undefined })).toEqual([])
    expect(await claim({ serviceName: 'nobody' })).toEqual([])
    expect(await claim({ tenant: 'other' })).toEqual([])
    expect((await claim()).map(({ saga }) => saga?.sagaId)).toEqual([`${service}-moving`])
  })

  it('includes failed sagas only on request', async () => {
    const id = await startSaga('failed')
    await report('ActivityExecuteStarted', { sagaId: id, activityId: `${id}-1`, order: 0 })
    await report('ActivityCompensateAborted', { sagaId: id, activityId: `${id}-1`, errors: 'gave up' })
    expect(await claim()).toEqual([])
    expect(await claim({ includeErrors: true })).toMatchObject([
      { saga: { status: 'Error' }, activities: [{ compensationGivenUp: true, compensateErrors: 'gave up' }] },
    ])
  })

  it('gives each saga to one of many parallel claimers, on several replicas', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => startSaga(String(n))))
    const claimed = await Promise.all(
      Array.from({ length: 16 }, (_, n) => claim({ max: 5 }, tokens.reporter, clients[n % 2])),
    )
    const got = claimed.flat().map(({ saga }) => saga?.sagaId)
    expect(new Set(got).size).toBe(got.length)
    const rest = await claim({ max: 100 })
    expect([...got, ...rest.map(({ saga }) => saga?.sagaId)].sort()).toEqual(ids.sort())
  })

  it('fits into one message, however large the payloads are', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => startSaga(String(n))))
    const parameterData = Buffer.alloc(40_000, 'x')
    const resultData = Buffer.alloc(40_000, 'y')
    for (const id of ids) {
      await Promise.all(
        Array.from({ length: 15 }, async (_, order) => {
          const activityId = `${id}-${order}`
          await report('ActivityExecuteStarted', { sagaId: id, activityId, order, parameterData })
          await report('ActivityEnded', { activityId, resultData })
        }),
      )
    }
    const leased = await claim({ max: 100 })
    expect(leased).toHaveLength(12)
    for (const { activities } of leased) {
      expect(activities).toHaveLength(15)
      for (const { parameter } of activities) {
        expect(parameter?.size).toBe(40_000)
        expect(parameter?.head.length).toBeGreaterThan(1000)
      }
    }
  })

  /** Starts a saga with that many activities, each with an error, without reporting the activities. */
  async function startWide(name: string, activities: number): Promise<string> {
    const id = await startSaga(name)
    await harness.database.pool.query(
      `INSERT INTO saga_activities (tenant, id, saga_id, "order", status, execute_errors, first_seen_at, last_event_at)
       SELECT 'default', rpad($1 || '-' || n, 128, '-'), $1, n, 'ExecuteAborted', repeat('e', 1000), now(), now()
       FROM generate_series(1, $2) n`,
      [id, activities],
    )
    return id
  }

  it('leaves sagas that do not fit into its message for the next claim, without counting an attempt', async () => {
    const ids: string[] = []
    for (let n = 0; n < 4; n += 1) ids.push(await startWide(String(n), 3000))
    const claims = []
    for (let found = await claim(); found.length > 0; found = await claim()) claims.push(found)
    expect(claims.length).toBeGreaterThan(1)
    const leased = claims.flat()
    expect(leased.map(({ saga }) => saga?.sagaId).sort()).toEqual(ids.sort())
    for (const { activities, attempt, nextPageToken } of leased)
      expect([activities.length, attempt, nextPageToken]).toEqual([3000, 1, ''])
  })

  it('begins with the longest idle saga, however large it is and wherever its id sorts', async () => {
    const small: string[] = []
    for (let n = 0; n < 9; n += 1) small.push(await startSaga(`a${n}`))
    const large = await startWide('b', 6000)
    const { pool } = harness.database
    for (const [table, id] of [
      ['sagas', 'id'],
      ['saga_activities', 'saga_id'],
    ])
      await pool.query(`UPDATE ${table} SET last_event_at = now() - interval '1 hour' WHERE ${id} = $1`, [
        large,
      ])
    const first = await claim()
    expect(first.map(({ saga }) => saga?.sagaId)).toEqual([large, ...small].slice(0, first.length))
    expect(first[0]).toMatchObject({ attempt: 1, nextPageToken: '' })
    expect(first[0]?.activities).toHaveLength(6000)
    const rest = await claim()
    expect([...first, ...rest].map(({ saga }) => saga?.sagaId)).toEqual([large, ...small])
    for (const { attempt } of rest) expect(attempt).toBe(1)
  })

  it('is refused without the right to report, and for invalid requests', async () => {
    expect(await codeOf(claim({}, null))).toBe(status.UNAUTHENTICATED)
    expect(await codeOf(claim({}, tokens.reader))).toBe(status.PERMISSION_DENIED)
    const wrong = [
      { serviceName: ' ' },
      { serviceName: 'a\0' },
      { max: 101 },
      { max: -1 },
      { leaseSeconds: 3601 },
      { minIdleSeconds: -1 },
    ]
    for (const given of wrong) expect(await codeOf(claim(given))).toBe(status.INVALID_ARGUMENT)
  })
})

describe('a lease', () => {
  it('is extended and ended by its token, on any replica', async () => {
    const id = await startSaga('a')
    const token = (await claim())[0]?.leaseToken ?? ''
    const { leasedUntil } = await extend(token, 600)
    expect(leasedUntil?.getTime()).toBeGreaterThan(Date.now() + 590_000)
    const { availableAt } = await complete(token, Resolution.RESOLUTION_FAILED, 'the bank is closed')
    expect(availableAt?.getTime()).toBeGreaterThan(Date.now() + 5000)
    expect(await codeOf(extend(token))).toBe(status.FAILED_PRECONDITION)
    expect(await codeOf(complete(token, Resolution.RESOLUTION_DONE))).toBe(status.FAILED_PRECONDITION)
    const { rows } = await harness.database.pool.query(
      'SELECT worker, note, resolution FROM saga_leases WHERE saga_id = $1',
      [id],
    )
    expect(rows).toEqual([{ worker: 'test', note: 'the bank is closed', resolution: 'failed' }])
  })

  it('that is returned can be claimed at once, and one that is done cannot', async () => {
    await startSaga('a')
    const first = (await claim())[0]?.leaseToken ?? ''
    await complete(first, Resolution.RESOLUTION_RETURNED)
    const second = (await claim())[0]
    expect(second).toMatchObject({ attempt: 1 })
    const { availableAt } = await complete(second?.leaseToken ?? '', Resolution.RESOLUTION_DONE)
    expect(availableAt).toBeUndefined()
    expect(await claim()).toEqual([])
  })

  it('that does not exist is refused', async () => {
    expect(await codeOf(extend('x'))).toBe(status.FAILED_PRECONDITION)
    expect(await codeOf(extend('6b7e1f3c-0000-4000-8000-000000000000'))).toBe(status.FAILED_PRECONDITION)
    expect(await codeOf(extend('6b7e1f3c-0000-4000-8000-000000000000', 4000))).toBe(status.INVALID_ARGUMENT)
    expect(await codeOf(complete('x', Resolution.RESOLUTION_UNSPECIFIED))).toBe(status.INVALID_ARGUMENT)
  })
})
