import { isDeepStrictEqual } from 'node:util'
import { holdsWithinASecond } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { json, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let other: Awaited<ReturnType<typeof harness.startReplica>>
beforeAll(async () => {
  harness = await startHarness()
  other = await harness.startReplica()
})
afterAll(async () => {
  await other?.close()
  await harness?.close()
})

const path = '/broadcast_messages'
type Message = Record<string, unknown> & { id: number }

async function createMessage(fields: Record<string, unknown> = {}): Promise<Message> {
  const response = await harness.send('admin', 'POST', path, json({ message: 'Deploy', ...fields }))
  expect(response.status).toBe(201)
  return (await response.json()) as Message
}

/** Deletes through the API, so that every replica is notified. */
beforeEach(async () => {
  const all = await harness.send('admin', 'GET', path)
  for (const { id } of (await all.json()) as Message[]) {
    await harness.send('admin', 'DELETE', `${path}/${id}`)
  }
})

const activeAt = async (baseUrl: string, query = '') =>
  (await (await fetch(`${baseUrl}/api/v4${path}/active${query}`)).json()) as Message[]
const messagesAt = async (baseUrl: string, query = '') =>
  (await activeAt(baseUrl, query)).map(({ message }) => message)

describe('GET /broadcast_messages', () => {
  it('lists messages that are shown at some moment in a range of time', async () => {
    const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const past = await createMessage({ starts_at: inHours(-3), ends_at: inHours(-2) })
    const now = await createMessage({ starts_at: inHours(-1), ends_at: inHours(1) })
    const next = await createMessage({ starts_at: inHours(2), ends_at: inHours(3) })
    const listed = async (query: string) => {
      const response = await harness.send('admin', 'GET', `${path}?${query}`)
      const ids = ((await response.json()) as Message[]).map(({ id }) => id)
      expect(response.headers.get('X-Total')).toBe(String(ids.length))
      return ids
    }
    expect(await listed(`ends_after=${inHours(-1)}`)).toEqual([next.id, now.id])
    expect(await listed(`starts_before=${inHours(1)}`)).toEqual([now.id, past.id])
    expect(await listed(`ends_after=${inHours(-1)}&starts_before=${inHours(1)}`)).toEqual([now.id])
    expect((await harness.send('admin', 'GET', `${path}?ends_after=soon`)).status).toBe(400)
  })
})

describe('GET /broadcast_messages/active', () => {
  it('shows guests the active messages, newest first, with the fields of the banner', async () => {
    const on = await createMessage({ message: 'On' })
    await createMessage({ message: 'Over', ends_at: '2020-01-01', starts_at: '2019-01-01' })
    await createMessage({ message: 'Later', starts_at: '2040-01-01', ends_at: '2041-01-01' })
    const newer = await createMessage({ message: 'Newer', dismissable: true })
    const response = await harness.send('guest', 'GET', `${path}/active`)
    expect(response.status).toBe(200)
    const banner = ({ active: _active, impact_rule_run: _run, ...shown }: Message) => ({
      ...shown,
      updated_at: expect.stringMatching(/Z$/),
    })
    expect(await response.json()).toEqual([banner(newer), banner(on)])
  })

  it('marks a message as new only when one of its fields has changed', async () => {
    const { id } = await createMessage({ target_path: '/a', starts_at: '2026-01-01', ends_at: '2040-01-01' })
    const version = async () => (await activeAt(harness.baseUrl))[0]?.updated_at
    const before = await version()
    for (const same of [
      {},
      { message: 'Deploy', target_path: '/a' },
      { starts_at: '2026-01-01T01:00:00+01:00' },
    ]) {
      expect((await harness.send('admin', 'PUT', `${path}/${id}`, json(same))).status).toBe(200)
    }
    expect(await version()).toBe(before)
    await harness.send('admin', 'PUT', `${path}/${id}`, json({ target_path: '' }))
    expect(await version()).not.toBe(before)
  })

  it('shows a theme by its colours, and custom colours unchanged', async () => {
    await createMessage({ theme: 'red' })
    await createMessage({ theme: 'red', color: '#000000' })
    expect(await activeAt(harness.baseUrl)).toMatchObject([
      { theme: 'red', color: '#000000', font: '#FFFFFF' },
      { theme: 'red', color: '#8D1300', font: '#FFFFFF' },
    ])
  })

  it('filters by the path of a page, with wildcards, and shows everything without', async () => {
    await createMessage({ message: 'Everywhere' })
    await createMessage({ message: 'Groups', target_path: '/groups/*' })
    expect(await messagesAt(harness.baseUrl)).toEqual(['Groups', 'Everywhere'])
    expect(await messagesAt(harness.baseUrl, '?path=/groups/a/b')).toEqual(['Groups', 'Everywhere'])
    expect(await messagesAt(harness.baseUrl, '?path=groups/a')).toEqual(['Groups', 'Everywhere'])
    expect(await messagesAt(harness.baseUrl, '?path=/users')).toEqual(['Everywhere'])
    await createMessage({ message: 'Abroad', target_path: '/über/*' })
    const abroad = `?path=${encodeURIComponent('/%C3%BCber/1')}`
    expect(await messagesAt(harness.baseUrl, abroad)).toEqual(['Abroad', 'Everywhere'])
  })

  it('refuses a path that is not a text', async () => {
    const response = await harness.send('guest', 'GET', `${path}/active?path[a]=b`)
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 'path is invalid', request_id: expect.any(String) },
    ])
  })

  it('may be cached by everybody for a second, and is revalidated by its ETag', async () => {
    await createMessage()
    const response = await harness.send('guest', 'GET', `${path}/active`)
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=1')
    expect(response.headers.get('Vary')).not.toContain('TOKEN')
    const headers = { 'If-None-Match': response.headers.get('ETag') ?? '' }
    expect((await harness.send('guest', 'GET', `${path}/active`, { headers })).status).toBe(304)
  })

  it('is not cached when a message appears or disappears within that second', async () => {
    await createMessage({ ends_at: new Date(Date.now() + 900).toISOString() })
    const response = await harness.send('guest', 'GET', `${path}/active`)
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=0')
  })

  it('may be fetched from any site', async () => {
    const headers = { Origin: 'https://shop.example.com' }
    const response = await harness.send('guest', 'GET', `${path}/active`, { headers })
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(response.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin')
  })

  it('refuses an invalid token', async () => {
    expect((await harness.send('unknown', 'GET', `${path}/active`)).status).toBe(401)
  })
})

describe('a change', () => {
  const showsWithinASecond = (messages: string[], madeAtMs?: number) =>
    holdsWithinASecond(async () => isDeepStrictEqual(await messagesAt(other.baseUrl), messages), madeAtMs)

  const verbs = {
    create: () => createMessage({ message: 'New' }),
    change: async () => {
      const { id } = await createMessage({ message: 'Old' })
      await expect.poll(() => messagesAt(other.baseUrl), { interval: 5 }).toEqual(['Old'])
      await harness.send('admin', 'PUT', `${path}/${id}`, json({ message: 'New' }))
    },
  }

  it.each(['create', 'change'] as const)(
    'shows at once where it was made, and within a second at every other replica: %s',
    async (verb) => {
      await verbs[verb]()
      const madeAtMs = performance.now()
      expect(await messagesAt(harness.baseUrl)).toEqual(['New'])
      await showsWithinASecond(['New'], madeAtMs)
    },
  )

  it('is visible everywhere at once while Redis is unreachable, and when Redis is back', async () => {
    await harness.testRedis.kill()
    // The connections notice the outage in their own time; until then a replica may be a second behind.
    await createMessage({ message: 'Without Redis' })
    const madeAtMs = performance.now()
    expect(await messagesAt(harness.baseUrl)).toEqual(['Without Redis'])
    await showsWithinASecond(['Without Redis'], madeAtMs)
    expect((await fetch(`${other.baseUrl}/-/readiness`)).status).toBe(200)

    await harness.testRedis.restart()
    await createMessage({ message: 'Back' })
    await expect.poll(() => messagesAt(other.baseUrl)).toEqual(['Back', 'Without Redis'])
  })

  it('without a notice is visible within a second', async () => {
    await messagesAt(other.baseUrl)
    const now = new Date()
    await harness.database.prisma.broadcastMessage.create({
      data: { message: 'Quiet', startsAt: now, endsAt: new Date(now.getTime() + 60_000) },
    })
    await showsWithinASecond(['Quiet'])
  })
})
