import { inTransaction, recordAuditEvent } from '@switchyard/db'
import { createToken } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, outcome, startHarness } from './harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  const author = { authorId: 1, authorName: 'Ada Lovelace', tokenId: 1, requestId: 'r', ipAddress: null }
  const log = (authorName: string, eventName: string, entityType: 'Project' | 'Webhook', entityId: string) =>
    inTransaction(harness.database, (transaction) =>
      recordAuditEvent(
        transaction,
        { ...author, authorName },
        { eventName, entityType, entityId, details: {} },
      ),
    )
  await log('Ada Lovelace', 'member_added', 'Project', 'engine-1')
  await log('Grace Hopper', 'webhook_created', 'Webhook', 'ship_100%')
  await log('Grace Hopper', 'member_removed', 'Project', 'engine-2')
})
afterAll(() => harness?.close())

const search = (query: string, who = 'admin') =>
  outcome<{ id: number; entity_id: string }[]>(harness.send(who, 'GET', `/audit_events?${query}`))

async function found(query: string): Promise<string[]> {
  const { status, body } = await search(query)
  expect(status).toBe(200)
  return body?.map(({ entity_id }) => entity_id) ?? []
}

describe('GET /audit_events?search=', () => {
  it.each([
    ['the event', 'MEMBER_', ['engine-2', 'engine-1']],
    ['the type of the entity', 'bhook', ['ship_100%']],
    ['the id of the entity', 'gine-2', ['engine-2']],
    ['the author', 'ada love', ['engine-1']],
    ['nothing', 'nobody', []],
    ['what looks like a pattern', '100%25', ['ship_100%']],
    ['a pattern that would fit every text', '%25%25%25', []],
  ])('finds a part of %s, in any case', async (_what, text, expected) => {
    expect(await found(`search=${text}`)).toEqual(expected)
  })

  it('combines with the other filters', async () => {
    expect(await found('search=engine&event_name=member_added')).toEqual(['engine-1'])
  })

  it('refuses a text without a trigram, and everybody but administrators', async () => {
    expect(await search('search=ab')).toEqual({
      status: 400,
      body: { error: 'search is too short (minimum is 3 characters)' },
    })
    expect(await search('search=engine', 'guest')).toMatchObject({ status: 401 })
    expect(await search('search=engine', 'user')).toMatchObject({ status: 403 })
  })
})

describe('GET /audit_events?pagination=keyset', () => {
  const author = { authorId: 1, authorName: 'Turing', tokenId: 1, requestId: 'r', ipAddress: null }
  const note = (entityId: string) =>
    inTransaction(harness.database, (transaction) =>
      recordAuditEvent(transaction, author, {
        eventName: 'keyset',
        entityType: 'Job',
        entityId,
        details: {},
      }),
    )
  const read = async (path: string) => {
    const answer = await harness.send('admin', 'GET', path)
    const rows = (await answer.json()) as { entity_id: string }[]
    const next = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1]
    return { status: answer.status, ids: rows.map(({ entity_id }) => entity_id), next }
  }

  it('returns every entry once, newest first, while new entries arrive', async () => {
    for (let number = 1; number <= 5; number += 1) await note(String(number))
    const first = await read('/audit_events?event_name=keyset&pagination=keyset&per_page=2')
    expect(first).toMatchObject({ status: 200, ids: ['5', '4'] })
    await note('6')
    const second = await read(first.next ?? '')
    expect(second.ids).toEqual(['3', '2'])
    const third = await read(second.next ?? '')
    expect(third).toMatchObject({ ids: ['1'], next: undefined })
  })

  it('refuses an invalid page token', async () => {
    const path = '/audit_events?pagination=keyset&page_token=yesterday'
    expect(await outcome(harness.send('admin', 'GET', path))).toEqual({
      status: 400,
      body: { error: 'page_token is invalid' },
    })
  })
})

it('a token that is bound to tenants reads only their entries about sagas', async () => {
  const author = { authorId: 1, authorName: 'Hamilton', tokenId: 1, requestId: 'r', ipAddress: null }
  for (const [entityType, entityId, tenant] of [
    ['SagaCommand', 'of-default', 'default'],
    ['Saga', 'of-acme', 'acme'],
    ['User', '7', null],
  ] as const)
    await inTransaction(harness.database, (transaction) =>
      recordAuditEvent(transaction, author, {
        eventName: 'bound',
        entityType,
        entityId,
        details: { tenant },
      }),
    )
  const bound = await createToken(harness.database, harness.users.admin, { tenants: ['acme'] })
  const read = async (who: string, query: string) =>
    (await search(`event_name=bound&${query}`, who)).body ?? []
  const all = await read('admin', '')
  expect(all.map(({ entity_id }) => entity_id)).toEqual(['7', 'of-acme', 'of-default'])
  for (const query of ['search=bound', 'pagination=keyset'])
    expect((await read(bound.secret, query)).map(({ entity_id }) => entity_id)).toEqual(['7', 'of-acme'])
  const statuses = all.map(({ id }) => harness.send(bound.secret, 'GET', `/audit_events/${id}`))
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 200, 404])
})
