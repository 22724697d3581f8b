import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness } from '../harness.js'
import { createErrors, createSagas, minute } from '../saga-rows.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let token: string

beforeAll(async () => {
  harness = await startHarness({ DATABASE_READ_TIMEOUT_MS: '2000' })
  token = (await createTokens(harness.database)).reader
  // One hundred sagas of booking, which took 1 to 100 minutes, and two of shipping.
  await createSagas(
    harness.database,
    Array.from({ length: 100 }, (_, index) => ({
      id: `booking-${index}`,
      firstSeenAt: minute(10),
      endedAt: minute(11 + index),
      outcome: index < 90 ? 'succeeded' : 'compensated',
    })),
  )
  await createSagas(harness.database, [
    { id: 'shipping-1', serviceName: 'shipping', firstSeenAt: minute(20), status: 'Error' },
    { id: 'shipping-2', serviceName: 'shipping', firstSeenAt: minute(500) },
    { id: 'reordered', startedAt: minute(451), firstSeenAt: minute(450), endedAt: minute(450) },
    { id: 'recent', firstSeenAt: new Date() },
  ])
  await harness.database.prisma.sagaActivity.createMany({
    data: [
      ['a', 'booking-1', 'connect 10.0.0.7 refused for order 4fd2a9b01c8e7d66aa'],
      ['b', 'booking-2', 'connect 10.0.0.8 refused for order 1b7c55d0c8e7d66aa9'],
      ['c', 'shipping-1', 'out of stock'],
    ].map(([id = '', sagaId = '', executeErrors = ''], index) => ({
      tenant: 'default',
      id,
      sagaId,
      executeErrors,
      status: 'ExecuteAborted',
      firstSeenAt: minute(21),
      lastEventAt: minute(30 + index),
    })),
  })
  await createErrors(harness.database)
})
afterAll(() => harness.close())

const ask = (path: string) =>
  fetch(`${harness.baseUrl}/api/v4/sagas/${path}`, { headers: { 'PRIVATE-TOKEN': token } })
const get = (query: string) => ask(`stats${query}`)

const range = `created_after=${minute(0).toISOString()}&created_before=${minute(400).toISOString()}`

describe('GET /sagas/stats', () => {
  it('excludes sagas whose start was received after their end from durations', async () => {
    const around = `created_after=${minute(440).toISOString()}&created_before=${minute(460).toISOString()}`
    expect(await (await get(`?${around}`)).json()).toMatchObject({ total: 1, durations: [] })
    const saga = `${harness.baseUrl}/api/v4/sagas/reordered`
    const shown = await fetch(saga, { headers: { 'PRIVATE-TOKEN': token } })
    expect(await shown.json()).toMatchObject({ duration_ms: null })
  })

  it('counts, measures and groups the sagas that were created in a time', async () => {
    const response = await get(`?${range}`)
    expect(response.status).toBe(200)
    const stats = (await response.json()) as { failures: { fingerprint: string }[] }
    expect(stats).toMatchObject({
      from: minute(0).toISOString(),
      to: minute(400).toISOString(),
      total: 101,
      by_status: { Ended: 100, Error: 1 },
      by_outcome: { succeeded: 90, compensated: 10 },
      by_service: { booking: 100, shipping: 1 },
    })
    expect(stats).toHaveProperty('counts', [
      { service_name: 'booking', status: 'Ended', outcome: 'compensated', count: 10 },
      { service_name: 'booking', status: 'Ended', outcome: 'succeeded', count: 90 },
      { service_name: 'shipping', status: 'Error', outcome: null, count: 1 },
    ])
    const minutes = 60_000
    expect(stats).toHaveProperty('durations', [
      {
        service_name: 'booking',
        outcome: 'compensated',
        count: 10,
        p50_ms: 95 * minutes,
        p90_ms: 99 * minutes,
        p99_ms: 100 * minutes,
      },
      {
        service_name: 'booking',
        outcome: 'succeeded',
        count: 90,
        p50_ms: 45 * minutes,
        p90_ms: 81 * minutes,
        p99_ms: 90 * minutes,
      },
    ])
    expect(stats.failures).toEqual([
      {
        fingerprint: expect.any(String),
        count: 2,
        sample: expect.stringMatching(/^connect 10/),
        first_seen_at: minute(30).toISOString(),
        last_seen_at: minute(31).toISOString(),
        saga_ids: ['booking-1', 'booking-2'],
      },
      expect.objectContaining({ count: 1, sample: 'out of stock', saga_ids: ['shipping-1'] }),
    ])
  })

  it('has a fingerprint for each group with which the list finds exactly its sagas', async () => {
    const { failures } = (await (await get(`?${range}`)).json()) as {
      failures: { fingerprint: string; saga_ids: string[] }[]
    }
    for (const { fingerprint, saga_ids } of failures) {
      const listed = await fetch(`${harness.baseUrl}/api/v4/sagas?fingerprint=${fingerprint}&${range}`, {
        headers: { 'PRIVATE-TOKEN': token },
      })
      const ids = ((await listed.json()) as { saga_id: string }[]).map(({ saga_id }) => saga_id)
      expect(ids.toSorted()).toEqual(saga_ids.toSorted())
    }
    expect(failures).toHaveLength(2)
  })

  it('can be limited to one service', async () => {
    expect(await (await get(`?${range}&service_name=shipping`)).json()).toMatchObject({
      total: 1,
      durations: [],
      failures: [{ sample: 'out of stock' }],
    })
  })

  it('covers the last 24 hours of one tenant by default', async () => {
    expect(await (await get('')).json()).toMatchObject({ total: 1, by_service: { booking: 1 } })
    expect(await (await get(`?${range}&tenant=acme`)).json()).toMatchObject({ total: 0, by_status: {} })
  })

  it('answers 400 for a time that ends before it begins', async () => {
    const response = await get(
      `?created_after=${minute(2).toISOString()}&created_before=${minute(1).toISOString()}`,
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'created_after is after created_before' })
  })

  it('answers 503 with advice when PostgreSQL takes too long', async () => {
    const client = await harness.database.pool.connect()
    try {
      await client.query('BEGIN; LOCK TABLE sagas IN ACCESS EXCLUSIVE MODE')
      const response = await get(`?${range}`)
      expect(response.status).toBe(503)
      expect(await response.json()).toMatchObject({ message: expect.stringContaining('narrow it by time') })
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  })
})

describe('GET /sagas/failure_history', () => {
  const history = (query: string) => ask(`failure_history?${query}`)
  const between = (from: number, to: number) =>
    `failed_after=${minute(from).toISOString()}&failed_before=${minute(to).toISOString()}`

  it('counts the failures of each cause in each bucket', async () => {
    const response = await history(`${between(5, 60)}&bucket_seconds=600`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      from: minute(0).toISOString(),
      to: minute(60).toISOString(),
      bucket_seconds: 600,
      causes: [
        {
          fingerprint: expect.any(String),
          sample: expect.stringMatching(/^connect 10/),
          count: 2,
          counts: [0, 0, 0, 2, 0, 0, 0],
        },
        { fingerprint: expect.any(String), sample: 'out of stock', count: 1, counts: [0, 0, 0, 1, 0, 0, 0] },
      ],
      other: { count: 0, counts: [0, 0, 0, 0, 0, 0, 0] },
    })
  })

  it('separates the five most frequent causes, of sagas that began within a day, of one tenant', async () => {
    await harness.database.pool.query(
      `INSERT INTO saga_errors (tenant, activity_id, saga_id, first_seen_at, failed_at, fingerprint, text)
       SELECT 'many', cause || '-' || n, cause::text, $1, $1::timestamptz + cause * interval '1 minute', 'f' || cause, 'It broke'
       FROM generate_series(1, 7) AS cause, generate_series(1, cause) AS n
       UNION ALL SELECT 'many', 'old', 'old', $1::timestamptz - interval '2 days', $1, 'f0', 'It broke'`,
      [minute(600)],
    )
    const { causes, other } = (await (await history(`tenant=many&${between(600, 660)}`)).json()) as {
      causes: { fingerprint: string; count: number }[]
      other: { count: number; counts: number[] }
    }
    expect(causes.map(({ fingerprint, count }) => [fingerprint, count])).toEqual([
      ['f7', 7],
      ['f6', 6],
      ['f5', 5],
      ['f4', 4],
      ['f3', 3],
    ])
    expect(other).toEqual({ count: 3, counts: [3, 0, 0, 0, 0] })
  })

  it('covers the last day in buckets of a quarter of an hour by default', async () => {
    const { other } = (await (await history('')).json()) as { other: { counts: number[] } }
    expect(other.counts).toHaveLength(97)
  })

  it.each([
    [between(2, 1), 'failed_after is after failed_before'],
    [`${between(0, 3000)}&bucket_seconds=10`, 'bucket_seconds is too short for this time'],
    ['bucket_seconds=9', 'bucket_seconds is invalid'],
    ['bucket_seconds=x', 'bucket_seconds is invalid'],
    ['failed_after=soon', 'failed_after is invalid'],
  ])('refuses %s', async (query, error) => {
    const response = await history(query)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error })
  })
})
