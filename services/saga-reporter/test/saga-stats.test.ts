import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness } from './harness.js'
import { createErrors, createSagas, minute } from './saga-rows.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let token: string

beforeAll(async () => {
  harness = await startHarness({ DATABASE_READ_TIMEOUT_MS: '2000' })
  token = (await createTokens(harness.database)).reader
  // One hundred of booking, which took 1 to 100 minutes, and two of shipping.
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
      ...{ tenant: 'default', id, sagaId, executeErrors, status: 'ExecuteAborted' },
      firstSeenAt: minute(21),
      lastEventAt: minute(30 + index),
    })),
  })
  await createErrors(harness.database)
})
afterAll(() => harness.close())

const get = (query: string) =>
  fetch(`${harness.baseUrl}/api/v4/sagas/stats${query}`, { headers: { 'PRIVATE-TOKEN': token } })

const range = `created_after=${minute(0).toISOString()}&created_before=${minute(400).toISOString()}`

describe('GET /sagas/stats', () => {
  it('measures no saga whose start was received after its end', async () => {
    const around = `created_after=${minute(440).toISOString()}&created_before=${minute(460).toISOString()}`
    expect(await (await get(`?${around}`)).json()).toMatchObject({ total: 1, durations: [] })
    const saga = `${harness.baseUrl}/api/v4/sagas/reordered`
    const shown = await fetch(saga, { headers: { 'PRIVATE-TOKEN': token } })
    expect(await shown.json()).toMatchObject({ duration_ms: null })
  })

  it('counts, measures and groups what was created in a time', async () => {
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
        ...{ service_name: 'booking', outcome: 'compensated', count: 10 },
        ...{ p50_ms: 95 * minutes, p90_ms: 99 * minutes, p99_ms: 100 * minutes },
      },
      {
        ...{ service_name: 'booking', outcome: 'succeeded', count: 90 },
        ...{ p50_ms: 45 * minutes, p90_ms: 81 * minutes, p99_ms: 90 * minutes },
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

  it('has a fingerprint for each group by which the list finds exactly its sagas', async () => {
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

  it('is of one service when it is asked for one', async () => {
    expect(await (await get(`?${range}&service_name=shipping`)).json()).toMatchObject({
      total: 1,
      durations: [],
      failures: [{ sample: 'out of stock' }],
    })
  })

  it('is of the last 24 hours when nothing else is said, and of one tenant', async () => {
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

  it('answers 503, and says what helps, when PostgreSQL takes too long', async () => {
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
