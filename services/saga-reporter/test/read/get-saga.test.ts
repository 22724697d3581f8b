import { createHash } from 'node:crypto'
import { errorFingerprint } from '@switchyard/domain/saga'
import { createProject, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reportAll } from '../grpc-client.js'
import { createTokens, startHarness } from '../harness.js'
import { createSagas } from '../saga-rows.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
const parameter = '{"seat": 12345678901234567890}'

beforeAll(async () => {
  harness = await startHarness()
  tokens = await createTokens(harness.database)
  await reportAll(harness.grpc, [
    ['SagaStarted', { sagaId: 'order/1 ü', serviceName: 'booking' }],
    [
      'ActivityExecuteStarted',
      {
        activityId: 'second',
        sagaId: 'order/1 ü',
        order: 1,
        timeOutSeconds: 5,
        addTime: '2026-01-02 03:04:05.678',
      },
    ],
    [
      'ActivityExecuteStarted',
      { activityId: 'first', sagaId: 'order/1 ü', order: 0, parameterData: Buffer.from(parameter) },
    ],
    ['ActivityEnded', { activityId: 'first', resultData: Buffer.alloc(20_000, 'r') }],
    ['ActivityExecuteAborted', { activityId: 'second', errors: 'no room' }],
    ['ActivityCompensated', { activityId: 'second' }],
    ['ActivityCompensateAborted', { activityId: 'first', sagaId: 'order/1 ü', errors: 'cannot undo' }],
    ['ActivityRevoked', { activityId: 'nobody-knows-its-saga' }],
  ])
  for (const index of [1, 2, 3]) {
    await harness.grpc.report('SagaStarted', { sagaId: `ship-${index}`, serviceName: 'shipping' })
  }
  await harness.grpc.report('SagaEnded', { sagaId: 'ship-1' })
  await reportAll(harness.grpc, [['SagaStarted', { sagaId: 'theirs', serviceName: 'booking' }]], {
    metadata: { 'x-tenant': 'acme' },
  })
})
afterAll(() => harness.close())

const get = (path: string, token: keyof typeof tokens | null = 'reader') =>
  fetch(`${harness.baseUrl}/api/v4${path}`, { headers: token ? { 'PRIVATE-TOKEN': tokens[token] } : {} })

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('GET /sagas/:id with more than 1,000 activities', () => {
  /** Creates a saga with that many activities, of which every third has no order. */
  async function createWide(id: string, count: number): Promise<string[]> {
    await createSagas(harness.database, [{ id, firstSeenAt: new Date(0) }])
    const { rows } = await harness.database.pool.query<{ id: string }>(
      `WITH made AS (
         INSERT INTO saga_activities (tenant, id, saga_id, "order", status, first_seen_at, last_event_at)
         SELECT 'default', $1 || n, $1, CASE WHEN n % 3 > 0 THEN n / 10 END, 'Executing', to_timestamp(n / 7), now()
         FROM generate_series(1, $2) n RETURNING id, "order", first_seen_at)
       SELECT id FROM made ORDER BY "order" NULLS LAST, first_seen_at, id`,
      [id, count],
    )
    return rows.map((row) => row.id)
  }
  interface Wide {
    activities: { activity_id: string }[]
    next_activities_cursor: string | null
  }

  it('has the rest on further pages, each activity once', async () => {
    const expected = await createWide('wide', 2_001)
    const found: string[] = []
    const sizes: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const response = await get(`/sagas/wide?activities_cursor=${cursor}`)
      const page = (await response.json()) as Wide
      found.push(...page.activities.map(({ activity_id }) => activity_id))
      sizes.push(page.activities.length)
      cursor = page.next_activities_cursor
    }
    expect(sizes).toEqual([1_000, 1_000, 1])
    expect(found).toEqual(expected)
  })

  it('shows that there are no more when they fill one page', async () => {
    await createWide('full', 1_000)
    const page = (await (await get('/sagas/full')).json()) as Wide
    expect(page.activities).toHaveLength(1_000)
    expect(page.next_activities_cursor).toBeNull()
  })

  it('refuses an invalid cursor of activities', async () => {
    const written = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
    for (const cursor of [
      'x',
      written(1, 2),
      written(2 ** 31, 0, 'a'),
      written(1, 5e12, 'a'),
      written(1, 0, '\0'),
    ]) {
      const response = await get(`/sagas/full?activities_cursor=${cursor}`)
      expect(response.status, cursor).toBe(400)
      expect(await response.json()).toMatchObject({ error: 'activities_cursor is invalid' })
    }
  })
})

describe('GET /sagas/:id', () => {
  const path = `/sagas/${encodeURIComponent('order/1 ü')}`

  it('shows a saga with its activities in order', async () => {
    const response = await get(path)
    expect(response.status).toBe(200)
    const saga = (await response.json()) as { activities: unknown[] }
    expect(saga).toMatchObject({
      flags: [],
      tags: [],
      notes: [],
      duration_ms: null,
      events_url: `${harness.baseUrl}/api/v4${path}/events`,
      saga_id: 'order/1 ü',
      tenant: 'default',
      service_name: 'booking',
      status: 'Error',
      outcome: null,
      late: false,
      add_time: null,
      started_at: time,
      ended_at: null,
      expires_at: null,
      resolution: null,
      first_seen_at: time,
      last_event_at: time,
    })
    expect(saga.activities).toHaveLength(2)
    expect(saga.activities[0]).toEqual({
      activity_id: 'first',
      order: 0,
      status: 'CompensateAborted',
      execute_status: 'Executed',
      compensation_status: 'CompensateAborted',
      execute_attempts: 1,
      compensate_attempts: 1,
      execute_duration_ms: expect.any(Number),
      compensate_duration_ms: null,
      retry_reports: 0,
      time_out_seconds: 0,
      deadline_at: null,
      add_time: null,
      first_seen_at: time,
      started_at: time,
      ended_at: time,
      aborted_at: null,
      overtime_at: null,
      revoked_at: null,
      compensating_at: null,
      compensated_at: null,
      compensate_aborted_at: time,
      last_event_at: time,
      execute_errors: null,
      compensate_errors: { text: 'cannot undo', size: 11, truncated: false },
      error_fingerprint: errorFingerprint('cannot undo'),
      compensation_given_up: true,
      anomalies: [],
      parameter: {
        size: 30,
        stored_size: 30,
        url: `${harness.baseUrl}/api/v4${path}/activities/first/payloads/parameter`,
        sha256: sha256(parameter),
        encoding: 'json',
        content: parameter,
        truncated: false,
      },
      result: {
        size: 20_000,
        stored_size: 20_000,
        url: `${harness.baseUrl}/api/v4${path}/activities/first/payloads/result`,
        sha256: sha256(Buffer.alloc(20_000, 'r')),
        encoding: 'text',
        content: 'r'.repeat(16_384),
        truncated: true,
      },
    })
    expect(saga.activities[1]).toMatchObject({
      activity_id: 'second',
      order: 1,
      status: 'Compensated',
      time_out_seconds: 5,
      add_time: '2026-01-02T03:04:05.678Z',
      execute_status: 'ExecuteAborted',
      compensation_status: 'Compensated',
      execute_errors: { text: 'no room', size: 7, truncated: false },
      parameter: { size: 0, content: '' },
      result: null,
    })
  })

  it('shows the newest deployments that name the saga, with only the fields that readers may see', async () => {
    const project = await createProject(harness.database, await createUser(harness.database))
    const where = { projectId: project.id, name: 'production', slug: 'production', tier: 'production' }
    const { id: environmentId } = await harness.database.prisma.environment.create({ data: where })
    const deployment = (iid: number, sagaTenant: string) => ({
      projectId: project.id,
      environmentId,
      iid,
      ref: 'main',
      tag: false,
      sha: 'f'.repeat(40),
      status: 'success',
      frozen: false,
      sagaTenant,
      sagaId: 'ship-2',
    })
    const data = Array.from({ length: 101 }, (_, index) => deployment(index + 1, 'default'))
    await harness.database.prisma.deployment.createMany({ data: [...data, deployment(102, 'acme')] })
    const saga = (await (await get('/sagas/ship-2')).json()) as { deployments: { id: number }[] }
    expect(saga.deployments).toHaveLength(100)
    expect(saga.deployments[0]).toEqual({
      id: expect.any(Number),
      project_id: project.id,
      environment: 'production',
      status: 'success',
    })
    const ids = saga.deployments.map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((a, b) => b - a))
    expect(await (await get('/sagas/ship-3')).json()).toMatchObject({ deployments: [] })
  })

  it('answers 404 for an unknown saga, and for one of another tenant', async () => {
    for (const unknown of ['/sagas/none', '/sagas/theirs', `${path}?tenant=acme`]) {
      const response = await get(unknown)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({
        message: '404 Saga Not Found',
        request_id: expect.any(String),
      })
    }
    expect((await get('/sagas/theirs?tenant=acme')).status).toBe(200)
  })

  it('answers 400 for an impossible id', async () => {
    const response = await get('/sagas/a%00b')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'id is invalid' })
  })
})

describe.each([
  '/sagas',
  '/sagas/ship-1',
  '/sagas/ship-1/events',
  `/sagas/${encodeURIComponent('order/1 ü')}/activities/first/payloads/result`,
  '/sagas/parked_activities',
  '/sagas/stats',
  '/sagas/failure_history',
  '/sagas/export',
])('who may read %s', (path) => {
  it('is readable for administrators, and for tokens with the scope', async () => {
    expect((await get(path, 'administrator')).status).toBe(200)
    expect((await get(path, 'reader')).status).toBe(200)
  })

  it('is not readable without a valid token', async () => {
    expect((await get(path, null)).status).toBe(401)
    expect((await get(path, 'unknown')).status).toBe(401)
  })

  it('is not readable for other users', async () => {
    expect((await get(path, 'user')).status).toBe(403)
    expect((await get(path, 'reporter')).status).toBe(403)
  })
})
