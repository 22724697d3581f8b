import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { form, json, multipart, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>

beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(() => harness.database.prisma.broadcastMessage.deleteMany())

const path = '/broadcast_messages'
const requestId = expect.any(String)

interface Message {
  id: number
  message: string
  starts_at: string
  ends_at: string
  color: string
  font: string
  active: boolean
  target_path: string | null
  broadcast_type: string
  dismissable: boolean
  theme: string
}

const contractKeys = ['id', 'message', 'starts_at', 'ends_at', 'color', 'font', 'active']
const shown = { target_path: null, broadcast_type: 'banner', dismissable: false, theme: 'indigo' }
const extraDefaults = { ...shown, impact_rule_run: null }

async function createMessage(fields: Record<string, unknown> = {}): Promise<Message> {
  const response = await harness.send('admin', 'POST', path, json({ message: 'Deploy', ...fields }))
  expect(response.status).toBe(201)
  return (await response.json()) as Message
}

const bodyOf = async (response: Response) => (await response.json()) as unknown

describe('the right to manage messages', () => {
  const verbs = [
    ['GET', ''],
    ['GET', '/1'],
    ['POST', ''],
    ['PUT', '/1'],
    ['DELETE', '/1'],
  ] as const

  it.each(verbs)(
    '%s %s answers 401 to guests and to unknown tokens, before every other check',
    async (verb, id) => {
      for (const who of ['guest', 'unknown'] as const) {
        const response = await harness.send(who, verb, `${path}${id}`)
        expect(response.status).toBe(401)
        expect(await bodyOf(response)).toEqual({ message: '401 Unauthorized', request_id: requestId })
      }
    },
  )

  it.each(verbs)('%s %s answers 403 to normal users, before it checks parameters', async (verb, id) => {
    const response = await harness.send('user', verb, `${path}${id}`)
    expect(response.status).toBe(403)
    expect(await bodyOf(response)).toEqual({ message: '403 Forbidden', request_id: requestId })
  })

  it('a token for reading can read, and nothing more', async () => {
    expect((await harness.send('reader', 'GET', path)).status).toBe(200)
    const refused = await harness.send('reader', 'POST', path, json({ message: 'x' }))
    expect(refused.status).toBe(403)
    expect(await bodyOf(refused)).toMatchObject({ error: 'insufficient_scope', scope: 'api' })
  })
})

describe('POST /broadcast_messages', () => {
  it('defaults to now, an hour from now and the default colours, and answers in the order of the contract', async () => {
    const before = Date.now()
    const message = await createMessage()
    const startsAt = Date.parse(message.starts_at)
    expect(Object.keys(message)).toEqual([...contractKeys, ...Object.keys(extraDefaults)])
    expect(message).toMatchObject(extraDefaults)
    expect(message).toMatchObject({ message: 'Deploy', color: '#E75E40', font: '#FFFFFF', active: true })
    expect(startsAt).toBeGreaterThanOrEqual(before)
    expect(startsAt).toBeLessThanOrEqual(Date.now())
    expect(Date.parse(message.ends_at) - startsAt).toBe(3_600_000)
    expect(message.starts_at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  })

  it('ends an hour from now by default, whatever start is given', async () => {
    const before = Date.now()
    const message = await createMessage({ starts_at: '2040-01-01T00:00:00Z' })
    expect(Date.parse(message.ends_at)).toBeGreaterThanOrEqual(before + 3_600_000)
    expect(Date.parse(message.ends_at)).toBeLessThanOrEqual(Date.now() + 3_600_000)
    expect(message.active).toBe(false)
  })

  const fields = {
    message: 'Wartung *heute* – 18 Uhr ☂',
    starts_at: '2026-03-01T12:00:00+02:00',
    ends_at: '2026-03-01',
    color: '#cecece',
    font: '#FFF',
  }
  it.each([
    ['form-encoded', form(fields)],
    ['JSON', json(fields)],
    ['multipart', multipart(fields)],
  ])('takes a %s body', async (_type, init) => {
    const response = await harness.send('admin', 'POST', path, init)
    expect(response.status).toBe(201)
    expect(await bodyOf(response)).toEqual({
      id: expect.any(Number),
      message: 'Wartung *heute* – 18 Uhr ☂',
      starts_at: '2026-03-01T10:00:00.000Z',
      ends_at: '2026-03-01T00:00:00.000Z',
      color: '#cecece',
      font: '#FFF',
      active: false,
      ...extraDefaults,
    })
  })

  const extras = {
    broadcast_type: 'notification',
    dismissable: 'true',
    target_path: ' /groups/*/welcome ',
    theme: 'light-red',
  }
  it.each([
    ['form-encoded', form(extras)],
    ['JSON', json(extras)],
  ])('takes what GitLab’s clients may add, %s', async (_type, init) => {
    const response = await harness.send('admin', 'POST', `${path}?message=Deploy`, init)
    expect(response.status).toBe(201)
    const message = (await response.json()) as Message
    expect(message).toMatchObject({ ...extras, dismissable: true, target_path: '/groups/*/welcome' })
    expect(await bodyOf(await harness.send('admin', 'GET', `${path}/${message.id}`))).toEqual(message)
  })

  it('accepts an unescaped hash sign of a colour in a form, as in the documented example', async () => {
    const response = await harness.send('admin', 'POST', path, {
      body: 'message=Deploy&color=#cecece',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
    expect(await bodyOf(response)).toMatchObject({ color: '#cecece' })
  })

  it.each([
    [{}, { error: 'message is missing' }],
    [{ message: 'x', starts_at: 'soon' }, { error: 'starts_at is invalid' }],
    [
      { starts_at: 'soon', ends_at: 5 },
      { error: 'message is missing, starts_at is invalid, ends_at is invalid' },
    ],
    [{ message: 'x', ends_at: '+99999-01-01T00:00:00Z' }, { error: 'ends_at is invalid' }],
    [{ message: { a: 1 } }, { error: 'message is invalid' }],
    [{ message: 'a\0b' }, { error: 'message is invalid' }],
    [{ message: '  ' }, { message: { message: ["can't be blank"] } }],
    [{ message: null }, { message: { message: ["can't be blank"] } }],
    [{ message: 'x', theme: 'pink' }, { error: 'theme does not have a valid value' }],
    [
      { message: 'x', broadcast_type: 'popup', dismissable: 'maybe', theme: null },
      {
        error:
          'broadcast_type does not have a valid value, dismissable is invalid, theme does not have a valid value',
      },
    ],
    [
      { message: 'x', target_path: '/'.repeat(256), color: 'red' },
      {
        message: {
          color: ['must be a valid color code'],
          target_path: ['is too long (maximum is 255 characters)'],
        },
      },
    ],
    [{ message: 'x', color: 'red' }, { message: { color: ['must be a valid color code'] } }],
    [
      { message: '', color: 'red', font: '#12' },
      {
        message: {
          message: ["can't be blank"],
          color: ['must be a valid color code'],
          font: ['must be a valid color code'],
        },
      },
    ],
  ])('refuses %j and stores nothing', async (body, answer) => {
    const response = await harness.send('admin', 'POST', path, json(body))
    expect(response.status).toBe(400)
    expect(await bodyOf(response)).toEqual({ ...answer, request_id: requestId })
    expect(await harness.database.prisma.broadcastMessage.count()).toBe(0)
  })

  it('refuses a body that is not JSON, an unknown content type, and a body that is too large', async () => {
    const broken = await harness.send('admin', 'POST', path, { ...json({}), body: '{"message":' })
    expect(broken.status).toBe(400)
    expect(await bodyOf(broken)).toMatchObject({ error: 'the body is not valid JSON' })
    const xml = { body: '<message/>', headers: { 'Content-Type': 'application/xml' } }
    expect((await harness.send('admin', 'POST', path, xml)).status).toBe(415)
    const large = json({ message: 'x'.repeat(1_100_000) })
    expect((await harness.send('admin', 'POST', path, large)).status).toBe(413)
  })
})

describe('GET /broadcast_messages', () => {
  it('lists newest first, in pages with totals and links', async () => {
    const ids: number[] = []
    for (const message of ['first', 'second', 'third']) ids.push((await createMessage({ message })).id)
    const response = await harness.send('admin', 'GET', `${path}?per_page=2&page=2`)
    expect(response.status).toBe(200)
    expect(((await response.json()) as Message[]).map(({ id }) => id)).toEqual([ids[0]])
    const headers = Object.fromEntries(response.headers)
    expect(headers).toMatchObject({ 'x-total': '3', 'x-total-pages': '2', 'x-page': '2', 'x-prev-page': '1' })
    expect(headers['x-next-page']).toBe('')
    expect(headers.link).toContain(`<${harness.baseUrl}/api/v4${path}?page=1&per_page=2>; rel="prev"`)
    const all = (await bodyOf(await harness.send('admin', 'GET', path))) as Message[]
    expect(all.map(({ id }) => id)).toEqual(ids.toReversed())
  })

  it('is an empty list without messages, and past the last page', async () => {
    expect(await bodyOf(await harness.send('admin', 'GET', path))).toEqual([])
    const far = await harness.send('admin', 'GET', `${path}?page=999999999999999`)
    expect([far.status, await bodyOf(far)]).toEqual([200, []])
  })

  it.each(['page=0', 'page=-1', 'per_page=0'])('refuses %s', async (query) => {
    const response = await harness.send('admin', 'GET', `${path}?${query}`)
    expect(response.status).toBe(400)
    const name = query.split('=')[0]
    expect(await bodyOf(response)).toMatchObject({ error: `${name} does not have a valid value` })
  })
})

describe('GET /broadcast_messages/:id', () => {
  it('shows one message, with an ETag that saves the next transfer', async () => {
    const message = await createMessage()
    const response = await harness.send('admin', 'GET', `${path}/${message.id}`)
    expect([response.status, await bodyOf(response)]).toEqual([200, message])
    const etag = response.headers.get('ETag') ?? ''
    const again = await harness.send('admin', 'GET', `${path}/${message.id}`, {
      headers: { 'If-None-Match': etag },
    })
    expect(again.status).toBe(304)
  })

  it('computes at read time whether a message is active', async () => {
    const soon = new Date(Date.now() + 300).toISOString()
    const { id, active } = await createMessage({ ends_at: soon })
    expect(active).toBe(true)
    await expect
      .poll(async () => (await bodyOf(await harness.send('admin', 'GET', `${path}/${id}`))) as Message)
      .toMatchObject({ id, active: false })
  })
})

describe('an id', () => {
  it.each(['GET', 'PUT', 'DELETE'])('that no message has is answered with 404 by %s', async (verb) => {
    for (const id of [2_147_483_647, 0, -1, 99_999_999_999]) {
      const response = await harness.send('admin', verb, `${path}/${id}`)
      expect([response.status, await bodyOf(response)]).toEqual([
        404,
        { message: '404 Not found', request_id: requestId },
      ])
    }
  })

  it.each(['GET', 'PUT', 'DELETE'])('that is no whole number is refused by %s', async (verb) => {
    for (const id of ['abc', '1.5', '1%00']) {
      const response = await harness.send('admin', verb, `${path}/${id}`)
      expect([response.status, await bodyOf(response)]).toEqual([
        400,
        { error: 'id is invalid', request_id: requestId },
      ])
    }
  })
})

describe('PUT /broadcast_messages/:id', () => {
  it('changes only the given fields', async () => {
    const message = await createMessage({ color: '#123', starts_at: '2026-01-01', ends_at: '2026-01-02' })
    for (const init of [
      form({ font: '#000000' }),
      json({ font: '#000000' }),
      multipart({ font: '#000000' }),
    ]) {
      const response = await harness.send('admin', 'PUT', `${path}/${message.id}`, init)
      expect([response.status, await bodyOf(response)]).toEqual([200, { ...message, font: '#000000' }])
    }
    const shown = await harness.send('admin', 'GET', `${path}/${message.id}`)
    expect(await bodyOf(shown)).toEqual({ ...message, font: '#000000' })
  })

  it('changes and clears optional fields, and keeps the others', async () => {
    const message = await createMessage({ target_path: '/a', theme: 'blue', dismissable: true })
    const url = `${path}/${message.id}`
    const changed = await harness.send('admin', 'PUT', url, json({ dismissable: false, theme: 'dark' }))
    expect(await bodyOf(changed)).toEqual({ ...message, dismissable: false, theme: 'dark' })
    const cleared = await harness.send('admin', 'PUT', url, form({ target_path: '' }))
    expect(await bodyOf(cleared)).toEqual({
      ...message,
      dismissable: false,
      theme: 'dark',
      target_path: null,
    })
  })

  it('changes nothing when no field is given', async () => {
    const message = await createMessage({ starts_at: '2040-01-01' })
    const response = await harness.send('admin', 'PUT', `${path}/${message.id}`)
    expect([response.status, await bodyOf(response)]).toEqual([200, message])
  })

  it.each([
    [{ message: '' }, { message: { message: ["can't be blank"] } }],
    [
      { starts_at: null, ends_at: '' },
      { message: { starts_at: ["can't be blank"], ends_at: ["can't be blank"] } },
    ],
    [{ ends_at: 'never' }, { error: 'ends_at is invalid' }],
    [
      { starts_at: null, color: 'blue', font: '#zzz' },
      {
        message: {
          starts_at: ["can't be blank"],
          color: ['must be a valid color code'],
          font: ['must be a valid color code'],
        },
      },
    ],
  ])('refuses %j and changes nothing', async (body, answer) => {
    const message = await createMessage()
    const response = await harness.send('admin', 'PUT', `${path}/${message.id}`, json(body))
    expect([response.status, await bodyOf(response)]).toEqual([400, { ...answer, request_id: requestId }])
    const shown = await harness.send('admin', 'GET', `${path}/${message.id}`)
    expect(await bodyOf(shown)).toEqual(message)
  })
})

describe('DELETE /broadcast_messages/:id', () => {
  it('answers 204 without a body, and 404 the second time', async () => {
    const { id } = await createMessage()
    const first = await harness.send('admin', 'DELETE', `${path}/${id}`)
    expect([first.status, await first.text()]).toEqual([204, ''])
    expect((await harness.send('admin', 'DELETE', `${path}/${id}`)).status).toBe(404)
  })

  it('keeps a message that was changed after the time in If-Unmodified-Since; an invalid time is ignored', async () => {
    const unlessChangedSince = async (time: string) => {
      const { id } = await createMessage()
      const headers = { 'If-Unmodified-Since': time }
      const response = await harness.send('admin', 'DELETE', `${path}/${id}`, { headers })
      return [response.status, (await harness.send('admin', 'GET', `${path}/${id}`)).status]
    }
    expect(await unlessChangedSince(new Date(Date.now() - 60_000).toUTCString())).toEqual([412, 200])
    expect(await unlessChangedSince(new Date(Date.now() + 60_000).toUTCString())).toEqual([204, 404])
    expect(await unlessChangedSince('yesterday')).toEqual([204, 404])
  })
})

describe('other verbs and paths', () => {
  it('get an error that names them', async () => {
    const verb = await harness.send('admin', 'PATCH', path)
    expect([verb.status, verb.headers.get('Allow')]).toEqual([405, 'HEAD, GET, POST'])
    const unknown = await harness.send('admin', 'GET', '/broadcast_message')
    expect([unknown.status, await bodyOf(unknown)]).toEqual([
      404,
      { error: '404 Not Found', request_id: requestId },
    ])
  })
})

describe('the audit log', () => {
  it('records who created, changed and deleted a message, and nothing about refused requests', async () => {
    await harness.database.prisma.auditEvent.deleteMany()
    const { id } = await createMessage()
    // Half of the emoji is within the first 200 UTF-16 units.
    await harness.send('admin', 'PUT', `${path}/${id}`, json({ message: `${'x'.repeat(199)}😀` }))
    await harness.send('admin', 'PUT', `${path}/${id}`, json({ color: 'red' }))
    await harness.send('user', 'DELETE', `${path}/${id}`)
    const deleted = await harness.send('admin', 'DELETE', `${path}/${id}`)
    expect((await harness.send('admin', 'DELETE', `${path}/${id}`)).status).toBe(404)
    const log = await harness.database.prisma.auditEvent.findMany({ orderBy: { id: 'asc' } })
    const about = { entityType: 'BroadcastMessage', entityId: String(id), authorId: expect.any(Number) }
    expect(log).toMatchObject([
      { ...about, eventName: 'broadcast_message_created', details: { message: 'Deploy' } },
      { ...about, eventName: 'broadcast_message_changed', details: { message: 'x'.repeat(199) } },
      {
        ...about,
        eventName: 'broadcast_message_deleted',
        requestId: deleted.headers.get('x-request-id'),
        ipAddress: expect.any(String),
      },
    ])
    expect(log).toHaveLength(3)
  })
})
