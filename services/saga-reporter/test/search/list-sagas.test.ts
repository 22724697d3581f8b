import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { ListSagasRequest, type ListSagasResponse, SagaQueryClient } from '@switchyard/contracts/saga-query'
import { errorFingerprint } from '@switchyard/domain/saga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness } from '../harness.js'
import { createErrors, createSagas, createTags, minute } from '../saga-rows.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let token: string
let client: SagaQueryClient

beforeAll(async () => {
  harness = await startHarness()
  client = new SagaQueryClient(`127.0.0.1:${harness.grpcPort}`, credentials.createInsecure())
  token = (await createTokens(harness.database)).reader
  const { prisma } = harness.database
  await createSagas(harness.database, [
    { id: 'a-1', firstSeenAt: minute(1), status: 'Started' },
    { id: 'a-2', firstSeenAt: minute(2), endedAt: minute(30), outcome: 'succeeded' },
    { id: 'a-3', firstSeenAt: minute(3), endedAt: minute(20), outcome: 'compensated', late: true },
    { id: 'b_1', firstSeenAt: minute(4), serviceName: 'shipping', status: 'Error' },
    { id: 'b%2', firstSeenAt: minute(5), serviceName: 'shipping', status: 'Pending' },
    // These sagas were first seen in the same instant, so the id decides.
    { id: 'c-2', firstSeenAt: minute(6), lastEventAt: minute(40) },
    { id: 'c-1', firstSeenAt: minute(6), lastEventAt: minute(50) },
    { id: 'theirs', tenant: 'acme', firstSeenAt: minute(7) },
  ])
  await createTags(harness.database, [
    { sagaId: 'a-2', tag: 'order=42', firstSeenAt: minute(2) },
    { sagaId: 'b_1', tag: 'order=42', firstSeenAt: minute(4) },
    { sagaId: 'c-1', tag: 'order=43', firstSeenAt: minute(6) },
    { tenant: 'acme', sagaId: 'theirs', tag: 'order=42', firstSeenAt: minute(7) },
  ])
  const flag = { tenant: 'default', since: minute(60) }
  await prisma.sagaFlag.createMany({
    data: [
      { ...flag, kind: 'stuck', sagaId: 'c-1', firstSeenAt: minute(6) },
      { ...flag, kind: 'stuck', sagaId: 'a-1', firstSeenAt: minute(1) },
      { ...flag, kind: 'overdue', sagaId: 'c-1', activityId: 'one', firstSeenAt: minute(6) },
      { ...flag, kind: 'overdue', sagaId: 'c-1', activityId: 'two', firstSeenAt: minute(6) },
      { ...flag, kind: 'parked', sagaId: 'b%2', firstSeenAt: minute(5) },
      { ...flag, kind: 'parked', sagaId: '', activityId: 'nobodys', firstSeenAt: minute(5) },
    ],
  })
  const activity = (id: string, sagaId: string, executeErrors: string, lastEventAt = minute(9)) => ({
    tenant: 'default',
    id,
    sagaId,
    status: 'ExecuteAborted',
    executeErrors,
    lastEventAt,
    firstSeenAt: minute(8),
  })
  await prisma.sagaActivity.createMany({
    data: [
      activity('one', 'b_1', 'Connection to 10.0.0.7 refused at 100%'),
      activity('two', 'b_1', 'connection to 10.0.0.8 refused'),
      activity('three', 'a-3', 'seat 17 is taken'),
      // This event is newer than the one that its saga has stored.
      {
        ...activity('four', 'a-1', ''),
        executeErrors: null,
        lastEventAt: new Date(minute(1).getTime() + 5000),
      },
    ],
  })
  await createErrors(harness.database)
})
afterAll(async () => {
  client?.close()
  await harness?.close()
})

const get = (query: string) =>
  fetch(`${harness.baseUrl}/api/v4/sagas${query}`, { headers: { 'PRIVATE-TOKEN': token } })

async function list(query: string) {
  const response = await get(query)
  expect(response.status, query).toBe(200)
  const sagas = (await response.json()) as { saga_id: string; last_event_at: string; flags: object[] }[]
  return { ids: sagas.map(({ saga_id }) => saga_id), sagas, headers: response.headers }
}

const flagOf: Record<string, boolean> = { true: true, yes: true, 1: true, false: false }

/** Calls `ListSagas` with the filters of a REST query. */
function listOverGrpc(query: string, more: Partial<ListSagasRequest> = {}): Promise<ListSagasResponse> {
  const given = Object.fromEntries(
    [...new URLSearchParams(query)].map(([key, value]) => [
      key.replace(/_[a-z]/g, (end) => end.slice(1).toUpperCase()),
      flagOf[value] ?? value,
    ]),
  )
  const metadata = new Metadata()
  metadata.set('private-token', token)
  return new Promise((resolve, reject) => {
    client.listSagas(ListSagasRequest.fromJSON({ ...given, ...more }), metadata, (error, response) =>
      error ? reject(error) : resolve(response),
    )
  })
}

const idsOverGrpc = async (query: string) => (await listOverGrpc(query)).sagas.map(({ sagaId }) => sagaId)

/** Returns the ids of an export, which has only one order. */
async function exportedIds(query: string): Promise<string[]> {
  const filters = new URLSearchParams(query)
  filters.delete('order_by')
  const response = await get(`/export?format=ndjson&${filters}`)
  expect(response.status, query).toBe(200)
  const lines = (await response.text()).split('\n').filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as { saga_id: string }).saga_id)
}

const all = ['c-1', 'c-2', 'b%2', 'b_1', 'a-3', 'a-2', 'a-1']

describe('the list of sagas', () => {
  it.each([
    ['', all],
    ['?tenant=acme', ['theirs']],
    ['?tenant=nobody', []],
    ['?service_name=shipping', ['b%2', 'b_1']],
    ['?service_name=ship', []],
    ['?status=Error', ['b_1']],
    ['?outcome=compensated', ['a-3']],
    ['?late=true', ['a-3']],
    ['?late=false', all.filter((id) => id !== 'a-3')],
    ['?stuck=true', ['c-1', 'a-1']],
    ['?stuck=false', ['c-2', 'b%2', 'b_1', 'a-3', 'a-2']],
    ['?overdue=true', ['c-1']],
    ['?parked=true', ['b%2']],
    ['?settled=yes', []],
    ['?inconsistent=1', []],
    ['?tag=order%3D42', ['b_1', 'a-2']],
    ['?tag=order%3D4', []],
    ['?id_prefix=a-', ['a-1', 'a-2', 'a-3']],
    ['?id_prefix=b_', ['b_1']],
    ['?id_prefix=b%25', ['b%2']],
    ['?search=-1', ['c-1', 'a-1']],
    ['?search=A-', ['a-3', 'a-2', 'a-1']],
    ['?search=%25', ['b%2']],
    ['?search=_', ['b_1']],
    ['?search=-1&order_by=updated_at', ['c-1', 'a-1']],
    ['?search=-&order_by=id', ['a-1', 'a-2', 'a-3', 'c-1', 'c-2']],
    ['?search=-1&stuck=true&overdue=true', ['c-1']],
    ['?search=2&id_prefix=c', ['c-2']],
    ['?search=', all],
    ['?id_prefix=a-&order_by=created_at', ['a-3', 'a-2', 'a-1']],
    [`?fingerprint=${errorFingerprint('seat 8 is taken')}`, ['a-3']],
    [`?fingerprint=${errorFingerprint('seat 8 is free')}`, []],
    ['?errors_contains=REFUSED', ['b_1']],
    ['?errors_contains=100%25', ['b_1']],
    ['?errors_contains=0_0', []],
    ['?errors_contains=seat+17', ['a-3']],
    [`?created_after=${minute(5).toISOString()}`, ['c-1', 'c-2', 'b%2']],
    [`?created_before=${minute(2).toISOString()}`, ['a-2', 'a-1']],
    [`?ended_after=${minute(25).toISOString()}`, ['a-2']],
    [`?ended_before=${minute(30).toISOString()}`, ['a-2', 'a-3']],
    [`?updated_after=${minute(40).toISOString()}`, ['c-1', 'c-2']],
    [`?updated_before=${minute(20).toISOString()}`, ['a-3', 'b_1', 'b%2', 'a-1']],
  ])('%s finds what it asks for, and nothing else', async (query, ids) => {
    const found = (await list(query)).ids
    if (query.includes('updated_before')) expect(new Set(found)).toEqual(new Set(ids))
    else expect(found).toEqual(ids)
    expect(await idsOverGrpc(query), 'over gRPC').toEqual(found)
    expect((await exportedIds(query)).toSorted(), 'as a file').toEqual(found.toSorted())
  })

  it('combines several filters', async () => {
    expect((await list('?tag=order%3D42&service_name=shipping&errors_contains=refused')).ids).toEqual(['b_1'])
    const taken = errorFingerprint('seat 8 is taken')
    expect((await list(`?fingerprint=${taken}&errors_contains=seat`)).ids).toEqual(['a-3'])
    expect((await list(`?fingerprint=${taken}&errors_contains=refused`)).ids).toEqual([])
    expect((await list(`?fingerprint=${taken}&stuck=true`)).ids).toEqual([])
    expect((await list(`?fingerprint=${taken}&tenant=acme`)).ids).toEqual([])
    expect((await list(`?fingerprint=${taken}&order_by=ended_at`)).ids).toEqual(['a-3'])
    expect((await list('?stuck=true&overdue=true')).ids).toEqual(['c-1'])
    expect((await list('?stuck=true&overdue=false')).ids).toEqual(['a-1'])
    expect((await list(`?stuck=true&created_before=${minute(3).toISOString()}`)).ids).toEqual(['a-1'])
    expect((await list('?stuck=true&id_prefix=c&status=Started&service_name=booking')).ids).toEqual(['c-1'])
    expect((await list('?errors_contains=refused&tag=order%3D43')).ids).toEqual([])
    expect((await list('?errors_contains=e&order_by=id'.replace('=e&', '=take&'))).ids).toEqual(['a-3'])
    expect(await idsOverGrpc('?stuck=true&overdue=true&id_prefix=c&order_by=updated_at')).toEqual(['c-1'])
  })

  it('has four orders, each in both directions', async () => {
    expect((await list('?sort=asc')).ids).toEqual([...all].reverse())
    expect((await list('?order_by=id')).ids).toEqual([...all].sort())
    expect((await list('?order_by=id&sort=desc')).ids).toEqual([...all].sort().reverse())
    expect((await list('?order_by=ended_at')).ids).toEqual(['a-2', 'a-3'])
    expect((await list('?order_by=ended_at&sort=asc')).ids).toEqual(['a-3', 'a-2'])
    expect((await list('?order_by=updated_at')).ids.slice(0, 4)).toEqual(['c-1', 'c-2', 'a-2', 'a-3'])
    expect((await list('?stuck=true&order_by=updated_at&sort=asc')).ids).toEqual(['a-1', 'c-1'])
  })

  it("considers events of activities that the saga's row does not contain", async () => {
    const at = new Date(minute(1).getTime() + 5000).toISOString()
    expect((await list('?id_prefix=a-1')).sagas[0]?.last_event_at).toBe(at)
    expect((await list(`?service_name=booking&updated_after=${at}`)).ids).toContain('a-1')
    expect((await list(`?updated_before=${minute(1).toISOString()}`)).ids).not.toContain('a-1')
  })

  it('shows the flags of a saga, with their activities', async () => {
    const since = minute(60).toISOString()
    expect((await list('?overdue=true')).sagas[0]?.flags).toEqual([
      { kind: 'overdue', activity_id: 'one', since },
      { kind: 'overdue', activity_id: 'two', since },
      { kind: 'stuck', activity_id: null, since },
    ])
  })
})

describe('pages of the list', () => {
  it.each([
    ['', all],
    ['sort=asc', [...all].reverse()],
    ['order_by=updated_at', null],
    ['order_by=id', [...all].sort()],
    ['stuck=true', ['c-1', 'a-1']],
    ['errors_contains=refused', ['b_1']],
    ['tag=order%3D42&sort=asc', ['a-2', 'b_1']],
    ['stuck=true&order_by=updated_at', ['c-1', 'a-1']],
  ])('of %s, following the links, hold each saga once', async (query, ids) => {
    const expected = ids ?? (await list(`?${query}`)).ids
    const found: string[] = []
    let url: string | null = `?${query}&per_page=1`
    while (url !== null) {
      const page: Awaited<ReturnType<typeof list>> = await list(url)
      expect(page.ids.length).toBeLessThanOrEqual(1)
      expect(page.headers.get('X-Per-Page')).toBe('1')
      found.push(...page.ids)
      const next = /<([^>]*)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1] ?? null
      expect(page.headers.has('X-Next-Cursor')).toBe(next !== null)
      url = next && new URL(next).search
    }
    expect(found).toEqual(expected)
    expect(await walkOverGrpc(`?${query}`), 'over gRPC').toEqual(expected)
  })

  async function walkOverGrpc(query: string): Promise<string[]> {
    const found: string[] = []
    let pageToken = ''
    do {
      const page: ListSagasResponse = await listOverGrpc(query, { pageSize: 1, pageToken })
      found.push(...page.sagas.map(({ sagaId }) => sagaId))
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    return found
  }

  it('refuse a token in the query, and do not repeat it', async () => {
    const response = await get('?per_page=1&PRIVATE-TOKEN=glpat-a&job_token[]=glpat-b')
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: string }
    expect(error).toBe('PRIVATE-TOKEN is not a parameter, job_token is not a parameter')
  })

  it('do not shift when newer sagas begin', async () => {
    const first = await list('?per_page=2&service_name=shipping&sort=asc')
    const cursor = (await list('?per_page=3')).headers.get('X-Next-Cursor')
    await createSagas(harness.database, [{ id: 'newer', tenant: 'default', firstSeenAt: minute(90) }])
    expect((await list(`?per_page=2&cursor=${cursor}`)).ids).toEqual(['b_1', 'a-3'])
    expect(first.headers.get('Link')).toBeNull()
    await harness.database.prisma.saga.deleteMany({ where: { id: 'newer' } })
  })
})

describe('counts by status', () => {
  it('count the sagas that match the other filters', async () => {
    const counts = async (query: string) => (await list(query)).headers.get('X-Status-Counts')
    expect(await counts('')).toBeNull()
    expect(await counts('?with_counts=true')).toBe('Pending=1, Started=3, Overtime=0, Ended=2, Error=1')
    expect(await counts('?with_counts=true&status=Error&service_name=shipping')).toBe(
      'Pending=1, Started=0, Overtime=0, Ended=0, Error=1',
    )
    expect(await counts('?with_counts=true&stuck=true')).toBe(
      'Pending=0, Started=2, Overtime=0, Ended=0, Error=0',
    )
  })

  it('are available over gRPC, too', async () => {
    expect((await listOverGrpc('')).statusCounts).toEqual([])
    const { statusCounts } = await listOverGrpc('?status=Error&service_name=shipping', { withCounts: true })
    expect(statusCounts.map((counted) => [counted.status, counted.count, counted.more])).toEqual([
      ['Pending', 1, false],
      ['Started', 0, false],
      ['Overtime', 0, false],
      ['Ended', 0, false],
      ['Error', 1, false],
    ])
  })
})

describe('invalid requests', () => {
  it.each([
    ['?status=Broken', 'status does not have a valid value'],
    ['?outcome=good', 'outcome does not have a valid value'],
    ['?order_by=name', 'order_by does not have a valid value'],
    ['?stuck=perhaps', 'stuck is invalid'],
    ['?created_after=yesterday', 'created_after is invalid'],
    ['?created_after=-005000-01-01T00:00:00Z', 'created_after is invalid'],
    ['?tenant=%20', 'tenant is empty'],
    ['?id_prefix=%20', 'id_prefix is empty'],
    ['?search=%20', 'search is empty'],
    ['?id_suffix=1', 'id_suffix is not a parameter'],
    ['?Status=Error&stauts=Error', 'Status is not a parameter, stauts is not a parameter'],
    ['?service_name=%00', 'service_name is invalid'],
    ['?fingerprint=%20', 'fingerprint is empty'],
    ['?errors_contains=ab', 'errors_contains is too short (minimum is 3 characters)'],
    ['?page=2', 'page is not supported: follow the Link header, or use cursor'],
    ['?per_page=0', 'per_page does not have a valid value'],
    ['?cursor=nonsense', 'cursor is invalid'],
    [`?cursor=${Buffer.from('["created_at","asc",1,"a"]').toString('base64url')}`, 'cursor is invalid'],
    [`?cursor=${Buffer.from('["created_at","desc",1e15,"a"]').toString('base64url')}`, 'cursor is invalid'],
    [
      `?cursor=${Buffer.from('["created_at","desc",1,"\\u0000"]').toString('base64url')}`,
      'cursor is invalid',
    ],
  ])('%s is answered with 400', async (query, error) => {
    const response = await get(query)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error, request_id: expect.any(String) })
  })

  it.each([
    [{ orderBy: 'name' }, 'order_by does not have a valid value'],
    [{ sort: 'up' }, 'sort does not have a valid value'],
    [{ status: 'Broken' }, 'status does not have a valid value'],
    [{ outcome: 'good' }, 'outcome does not have a valid value'],
    [{ tag: ' ' }, 'tag is empty'],
    [{ serviceName: '\0' }, 'service_name is invalid'],
    [{ errorsContains: 'ab' }, 'errors_contains is too short (minimum is 3 characters)'],
    [{ endedBefore: new Date('-005000-01-01T00:00:00Z') }, 'ended_before is invalid'],
    [{ pageSize: -1 }, 'page_size does not have a valid value'],
    [{ pageToken: 'nonsense' }, 'page_token is invalid'],
  ])('%o is answered with INVALID_ARGUMENT', async (given, error) => {
    const refusal = await listOverGrpc('', given).then(
      () => null,
      ({ code, details }: ServiceError) => ({ code, details }),
    )
    expect(refusal).toEqual({ code: status.INVALID_ARGUMENT, details: error })
  })
})
