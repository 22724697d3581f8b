import { get as httpGet, type IncomingMessage } from 'node:http'
import { errorFingerprint } from '@switchyard/domain/saga'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness, startService } from '../harness.js'
import { createErrors, createSagas, createTags, minute } from '../saga-rows.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let token: string
let administrator: string

/** Enough for several steps of the walk, many with the same instant. */
const manyCount = 9000

beforeAll(async () => {
  harness = await startHarness()
  const tokens = await createTokens(harness.database)
  token = tokens.reader
  administrator = tokens.administrator
  await createSagas(harness.database, [
    { id: '=cmd|calc', firstSeenAt: minute(1), serviceName: 'a "quoted", one' },
    { id: 'b', firstSeenAt: minute(2), endedAt: minute(3), outcome: 'succeeded' },
  ])
  await createTags(harness.database, [
    { sagaId: 'b', tag: 'order=1', firstSeenAt: minute(2) },
    { sagaId: 'b', tag: 'region=eu', firstSeenAt: minute(2) },
  ])
  const many = Array.from({ length: manyCount }, (_, index) => ({
    tenant: 'many',
    id: `saga-${index}`,
    firstSeenAt: minute(Math.floor(index / 1000)),
    serviceName: index % 3000 === 0 ? 'rare' : 'frequent',
  }))
  await createSagas(harness.database, many)
})
afterAll(() => harness.close())

const get = (query: string, init: RequestInit = {}) =>
  fetch(`${harness.baseUrl}/api/v4/sagas/export${query}`, { headers: { 'PRIVATE-TOKEN': token }, ...init })

describe('GET /sagas/export', () => {
  it('writes CSV that spreadsheets read but do not execute', async () => {
    const response = await get('')
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8; header=present')
    expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="sagas.csv"')
    const lines = (await response.text()).split('\r\n')
    expect(lines[0]).toMatch(/^saga_id,tenant,service_name,status,outcome,late,flags,tags,/)
    expect(lines[1]).toMatch(/^b,default,booking,Ended,succeeded,false,,order=1 region=eu,/)
    expect(lines[1]).toMatch(/,60000$/)
    expect(lines[2]).toMatch(/^'=cmd\|calc,default,"a ""quoted"", one",Started,,false,/)
    expect(lines.slice(3)).toEqual([''])
  })

  it('begins CSV with a byte order mark on request, so that Excel reads it as UTF-8', async () => {
    const bytesOf = async (query: string) => Buffer.from(await (await get(query)).arrayBuffer())
    const plain = await bytesOf('')
    expect(await bytesOf('?bom=true')).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]))
    expect(await bytesOf('?bom=false&format=csv')).toEqual(plain)
    const refused = await get('?bom=true&format=ndjson')
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: 'bom is for CSV alone' })
    expect((await get('?bom=maybe')).status).toBe(400)
  })

  it('writes one JSON document per line, in the shape of the list', async () => {
    const response = await get('?format=ndjson&tag=order%3D1')
    expect(response.headers.get('Content-Type')).toBe('application/x-ndjson; charset=utf-8')
    const list = await fetch(`${harness.baseUrl}/api/v4/sagas?tag=order%3D1`, {
      headers: { 'PRIVATE-TOKEN': token },
    })
    expect(
      (await response.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(await list.json())
  })

  it('contains every saga of a big set once, in the order of the list, even when few of many match', async () => {
    const idsOf = async (query: string) =>
      (await (await get(query)).text())
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0])
    const ids = await idsOf('?tenant=many')
    expect(ids).toHaveLength(manyCount)
    expect(new Set(ids).size).toBe(manyCount)
    expect(ids[0]).toBe('saga-8000')
    expect(await idsOf('?tenant=many&service_name=rare&id_prefix=saga-')).toEqual([
      'saga-6000',
      'saga-3000',
      'saga-0',
    ])
    expect(await idsOf(`?tenant=many&id_prefix=saga-5999`)).toEqual(['saga-5999'])
    const { pool } = harness.database
    await pool.query(`INSERT INTO saga_activities (tenant, id, saga_id, status, execute_errors, first_seen_at, last_event_at)
      SELECT s.tenant, s.id || n, s.id, 'ExecuteAborted', s.service_name || ' card ' || n, s.first_seen_at, s.first_seen_at
      FROM sagas s, generate_series(1, 2) AS n WHERE s.tenant = 'many'`)
    await createErrors(harness.database)
    expect(await idsOf('?tenant=many&errors_contains=CARD+')).toEqual(ids)
    expect(await idsOf('?tenant=many&errors_contains=rare+card')).toEqual([
      'saga-6000',
      'saga-3000',
      'saga-0',
    ])
    expect(await idsOf(`?tenant=many&fingerprint=${errorFingerprint('rare card 1')}`)).toEqual([
      'saga-6000',
      'saga-3000',
      'saga-0',
    ])
    expect(await idsOf('?tenant=nobody')).toEqual([])
  })

  it('stops reading when the client has disconnected', async () => {
    const running = () =>
      harness.database.pool
        .query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database()
            AND application_name = 'saga-reporter-read' AND state <> 'idle'`,
        )
        .then(({ rowCount }) => rowCount)
    for (let time = 0; time < 5; time += 1) {
      await new Promise<void>((resolve, reject) => {
        const url = `${harness.baseUrl}/api/v4/sagas/export?tenant=many&format=ndjson`
        const request = httpGet(url, { headers: { 'PRIVATE-TOKEN': token } }, (response) => {
          response.once('data', () => {
            response.destroy()
            resolve()
          })
        })
        request.on('error', reject)
      })
    }
    await waitFor(async () => (await running()) === 0)
    expect((await get('?tenant=default')).status).toBe(200)
  })

  it('answers 400 for an unknown format or filter value, before anything is sent', async () => {
    expect((await get('?format=xlsx')).status).toBe(400)
    expect((await get('?status=Broken')).status).toBe(400)
  })

  it('answers HEAD without a body', async () => {
    const response = await get('', { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  })
})

describe('exports that their client does not read', () => {
  beforeAll(async () => {
    // More bytes than the connection keeps on its way.
    const large = Array.from({ length: 10_000 }, (_, index) => ({
      tenant: 'large',
      id: `saga-${index}-${'x'.repeat(1000)}`,
      firstSeenAt: minute(1),
    }))
    await createSagas(harness.database, large)
  })

  /** Begins an export without reading it. */
  const begin = (baseUrl: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const url = `${baseUrl}/api/v4/sagas/export?tenant=large&format=ndjson`
      httpGet(url, { headers: { 'PRIVATE-TOKEN': token } }, resolve).on('error', reject)
    })

  /** Exports everything of a small tenant. */
  async function exportSome(baseUrl: string, secret = token) {
    const response = await fetch(`${baseUrl}/api/v4/sagas/export`, { headers: { 'PRIVATE-TOKEN': secret } })
    await response.text()
    return { status: response.status, retryAfter: response.headers.get('Retry-After') }
  }

  it('are limited for each user: 429 with Retry-After, until one of them has ended', async () => {
    const { baseUrl } = harness
    const [first, second] = [await begin(baseUrl), await begin(baseUrl)]
    expect([first.statusCode, second.statusCode]).toEqual([200, 200])
    expect(await exportSome(baseUrl)).toEqual({ status: 429, retryAfter: '30' })
    expect((await exportSome(baseUrl, administrator)).status).toBe(200)
    first.destroy()
    await waitFor(async () => (await exportSome(baseUrl)).status === 200)
    second.destroy()
  })

  it('are ended after a while, so that they take no slots', async () => {
    const strict = await startService(harness.databaseUrl, { SAGA_STREAM_STALL_MS_MAX: '500' })
    try {
      const unread = [await begin(strict.baseUrl), await begin(strict.baseUrl)]
      await waitFor(async () => (await exportSome(strict.baseUrl)).status === 200)
      for (const response of unread) response.destroy()
    } finally {
      await strict.close()
    }
  })
})
