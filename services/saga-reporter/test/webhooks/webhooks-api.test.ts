import { randomUUID } from 'node:crypto'
import { Secret } from '@switchyard/config'
import type { Prisma } from '@switchyard/db'
import { createProject, createUser } from '@switchyard/testing'
import { createSecretBox, createWebhook, type Webhook } from '@switchyard/webhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTokens, startHarness, webhookSecretKeys } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
beforeAll(async () => {
  harness = await startHarness({ WEBHOOK_ALLOWED_HOSTS: 'hooks.internal,10.1.0.0/16' })
  tokens = await createTokens(harness.database)
})
afterAll(() => harness.close())
beforeEach(async () => {
  await harness.database.prisma.webhook.deleteMany()
})

const secret = 'whsec-0123456789abcdef'
const given = { url: 'https://hooks.example.com/a?b=c', secret, events: ['saga.error', 'saga.stuck'] }

/** Sends a request and checks that the answer does not contain the secret. */
async function send(
  method: string,
  path: string,
  body?: unknown,
  token: string | null = tokens.administrator,
) {
  const response = await fetch(`${harness.baseUrl}/api/v4/sagas/webhooks${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { 'PRIVATE-TOKEN': token }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const text = await response.text()
  expect(text).not.toContain('whsec')
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}

type StoredColumns = Pick<Prisma.WebhookGetPayload<object>, 'secret' | 'encryptedSecret' | 'secretKeyId'>

/** Decrypts the secret in a row, which needs the key. */
function storedSecret(row: StoredColumns): string {
  const { secret: plain, encryptedSecret: bytes, secretKeyId: keyId } = row
  if (plain !== null || bytes === null || keyId === null) throw new Error('a secret that is not encrypted')
  expect(Buffer.from(bytes).toString('latin1')).not.toContain('whsec')
  return createSecretBox({ WEBHOOK_SECRET_KEYS: new Secret(webhookSecretKeys) }).decrypt({ keyId, bytes })
}

const added = async (fields: object = {}): Promise<{ id: number }> =>
  (await send('POST', '', { ...given, ...fields })).body

const addedDelivery = async (id: number): Promise<{ id: string }> => (await send('POST', `/${id}/test`)).body

/** Creates a webhook of a project, which this service must not show. */
async function ofProject(): Promise<Webhook> {
  const project = await createProject(harness.database, await createUser(harness.database))
  const owner = { scope: 'project', projectId: project.id } as const
  return createWebhook(harness.database, owner, {
    url: 'https://example.com/',
    host: 'example.com',
    secret: null,
    events: ['push'],
    serviceName: null,
    enabled: true,
    createdBy: null,
  })
}

describe('every endpoint', () => {
  const delivery = '11111111-1111-4111-8111-111111111111'
  const endpoints: [string, string][] = [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/1'],
    ['PUT', '/1'],
    ['DELETE', '/1'],
    ['POST', '/1/test'],
    ['GET', '/1/deliveries'],
    ['GET', `/1/deliveries/${delivery}`],
    ['POST', `/1/deliveries/${delivery}/redeliver`],
  ]

  it.each(endpoints)('%s %s requires an administrator', async (method, path) => {
    expect((await send(method, path, undefined, null)).status).toBe(401)
    expect((await send(method, path, undefined, tokens.unknown)).status).toBe(401)
    expect((await send(method, path, undefined, tokens.user)).status).toBe(403)
    expect((await send(method, path, undefined, tokens.reader)).status).toBe(403)
  })

  it.each(endpoints.filter(([, path]) => path !== ''))(
    '%s %s finds only what is there, of sagas',
    async (method, path) => {
      const body = method === 'PUT' ? {} : undefined
      expect(await send(method, path, body)).toMatchObject({
        status: 404,
        body: { message: '404 Webhook Not Found' },
      })
      const { id } = await ofProject()
      expect((await send(method, path.replace('/1', `/${id}`), body)).status).toBe(404)
    },
  )

  it.each(endpoints.filter(([, path]) => path !== ''))(
    '%s %s refuses what is no id',
    async (method, path) => {
      expect(await send(method, path.replace('/1', '/x'))).toMatchObject({
        status: 400,
        body: { error: 'id is invalid' },
      })
      if (!path.includes(delivery)) return
      const other = await send(method, path.replace(delivery, 'x'))
      expect(other).toMatchObject({ status: 400, body: { error: 'delivery_id is invalid' } })
    },
  )
})

describe('creating', () => {
  it('returns the webhook, but not its secret', async () => {
    const { status, body } = await send('POST', '', { ...given, service_name: 'booking', tenant: 'north' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(Number),
      tenant: 'north',
      url: given.url,
      events: given.events,
      service_name: 'booking',
      custom_webhook_template: null,
      message_format: null,
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      consecutive_failures: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const row = await harness.database.prisma.webhook.findUniqueOrThrow({ where: { id: body.id } })
    expect(row).toMatchObject({ host: 'hooks.example.com', createdBy: expect.any(Number) })
    expect(storedSecret(row)).toBe(secret)
  })

  it.each([
    ['hooks.internal', 'http://hooks.internal/'],
    ['an allowed network', 'http://10.1.2.3:8080/'],
  ])('takes %s because the operator allowed it', async (_case, url) => {
    expect((await send('POST', '', { ...given, url })).status).toBe(201)
  })

  it.each([
    [{ url: 'http://127.0.0.1/' }, { url: ['is refused: 127.0.0.1 is not a public address (loopback)'] }],
    [
      { url: 'http://[::ffff:10.2.0.1]/' },
      { url: ['is refused: ::ffff:a02:1 is not a public address (private)'] },
    ],
    [{ url: 'http://localhost:1/' }, { url: ['is refused: localhost is not a public address (loopback)'] }],
    [{ url: 'ftp://example.com/' }, { url: ['must be an http or https URL'] }],
    [{ url: 'https://me:pw@example.com/' }, { url: ['must not hold a user name or a password'] }],
    [{ secret: 'short' }, { secret: ['is too short (minimum is 16 characters)'] }],
    [{ secret: 'x'.repeat(256) }, { secret: ['is too long (maximum is 255 characters)'] }],
    [
      { secret: 'has a space in the middle' },
      { secret: ['must be printable ASCII characters without spaces'] },
    ],
    [{ message_format: 'pigeon' }, { message_format: ['must be among slack, teams, mattermost, plain'] }],
    [
      { custom_webhook_template: '[{{{event}}}]' },
      { custom_webhook_template: [expect.stringContaining('always escaped')] },
    ],
    [{ events: [] }, { events: ['must name at least one event'] }],
    [{ events: ['push'] }, { events: [expect.stringContaining('must be among saga.error, saga.ended, ')] }],
  ])('refuses %j', async (fields, problems) => {
    const { status, body } = await send('POST', '', { ...given, ...fields })
    expect({ status, message: body.message }).toEqual({ status: 400, message: problems })
  })

  it('refuses a tenant that no event can have', async () => {
    const { status, body } = await send('POST', '', { ...given, tenant: 'n'.repeat(129) })
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: 'tenant is too long (maximum is 128 characters)',
    })
  })

  it('names every missing parameter', async () => {
    const { status, body } = await send('POST', '', {})
    expect({ status, error: body.error }).toEqual({
      status: 400,
      error: 'url is missing, secret is missing, events is missing',
    })
  })
})

describe('the body of requests', () => {
  const template = '{"text": "{{event}}{{#saga}} of {{saga_id}}{{/saga}}"}'

  it('is a template or a message, for a test, too', async () => {
    const { id } = await added({ custom_webhook_template: template })
    const sent = async () => JSON.parse((await send('POST', `/${id}/test`)).body.request_body)
    expect(await sent()).toEqual({ text: 'test' })
    expect((await send('PUT', `/${id}`, { message_format: 'slack' })).status).toBe(400)
    const changes = { custom_webhook_template: null, message_format: 'slack' }
    expect((await send('PUT', `/${id}`, changes)).body).toMatchObject(changes)
    expect(await sent()).toEqual({ text: 'A test of Switchyard' })
  })

  it('is previewed for administrators with an event of sagas', async () => {
    const preview = (body: object, token?: string | null) => send('POST', '/preview', body, token)
    const event = 'saga.error'
    expect((await preview({ event, custom_webhook_template: template })).body).toEqual({
      event,
      content_type: 'application/json',
      body: '{"text": "saga.error of example"}',
    })
    expect((await preview({ event, message_format: 'plain' })).body).toMatchObject({
      content_type: 'text/plain; charset=utf-8',
      body: expect.stringContaining('saga example of booking, Error\n- example-hotel: CompensateAborted'),
    })
    expect((await preview({ event: 'push' })).status).toBe(400)
    expect((await preview({ event, message_format: 'pigeon' })).status).toBe(400)
    expect((await preview({ event }, null)).status).toBe(401)
    expect((await preview({ event }, tokens.user)).status).toBe(403)
  })
})

describe('reading and changing', () => {
  it('lists page by page, of all tenants or of one', async () => {
    const [first, second] = [await added(), await added({ tenant: 'north' })]
    await ofProject()
    const all = await send('GET', '?per_page=1&page=2')
    expect(all).toMatchObject({ status: 200, body: [{ id: second.id }] })
    expect(all.headers.get('x-total')).toBe('2')
    expect((await send('GET', '?tenant=default')).body).toMatchObject([{ id: first.id }])
    expect((await send('GET', '?page=0')).status).toBe(400)
  })

  it('shows a webhook', async () => {
    const { id } = await added()
    expect(await send('GET', `/${id}`)).toMatchObject({ status: 200, body: { id, url: given.url } })
  })

  it('changes the version that was read, and nothing when it has changed meanwhile', async () => {
    const { id } = await added()
    const etag = (await send('GET', `/${id}`)).headers.get('ETag') ?? ''
    const put = (service_name: string) =>
      fetch(`${harness.baseUrl}/api/v4/sagas/webhooks/${id}`, {
        method: 'PUT',
        headers: {
          'PRIVATE-TOKEN': tokens.administrator,
          'Content-Type': 'application/json',
          'If-Match': etag,
        },
        body: JSON.stringify({ service_name }),
      })
    const answers = await Promise.all([put('booking'), put('payments')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  })

  it('deletes only the version that was read', async () => {
    const { id } = await added()
    const version = async () => (await send('GET', `/${id}`)).headers.get('ETag') ?? ''
    const remove = async (etag: string) => {
      const headers = { 'PRIVATE-TOKEN': tokens.administrator, 'If-Match': etag }
      const url = `${harness.baseUrl}/api/v4/sagas/webhooks/${id}`
      return (await fetch(url, { method: 'DELETE', headers })).status
    }
    const before = await version()
    await send('PUT', `/${id}`, { enabled: 'false' })
    expect([await remove(before), await remove(await version())]).toEqual([412, 204])
  })

  it('changes only the given fields', async () => {
    const { id } = await added({ service_name: 'booking' })
    const changes = { url: 'https://other.example.com/', secret: 'whsec-another-secret', enabled: 'false' }
    const { status, body } = await send('PUT', `/${id}`, changes)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      url: changes.url,
      enabled: false,
      service_name: 'booking',
      events: given.events,
    })
    const row = await harness.database.prisma.webhook.findUniqueOrThrow({ where: { id } })
    expect(row).toMatchObject({ host: 'other.example.com' })
    expect(storedSecret(row)).toBe(changes.secret)
    expect((await send('PUT', `/${id}`, { service_name: '' })).body).toMatchObject({ service_name: null })
    expect((await send('PUT', `/${id}`, { url: 'http://10.0.0.1/' })).status).toBe(400)
  })

  it('clears failures when a webhook is enabled again', async () => {
    const { id } = await added()
    const data = { enabled: false, disabledReason: 'gone', failingSince: new Date(), consecutiveFailures: 30 }
    await harness.database.prisma.webhook.update({ where: { id }, data })
    expect((await send('PUT', `/${id}`, { enabled: true })).body).toMatchObject({
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      consecutive_failures: 0,
    })
  })

  it('deletes a webhook with its deliveries', async () => {
    const { id } = await added()
    await addedDelivery(id)
    expect(await send('DELETE', `/${id}`)).toMatchObject({ status: 204, body: null })
    expect((await send('GET', `/${id}`)).status).toBe(404)
    expect(await harness.database.prisma.webhookDelivery.count()).toBe(0)
  })
})

describe('deliveries', () => {
  it('are created by a test, and shown with their request', async () => {
    const { id } = await added()
    const test = await send('POST', `/${id}/test`)
    expect(test).toMatchObject({ status: 202, body: { event: 'test', state: 'pending', attempts: 0 } })
    const { status, body } = await send('GET', `/${id}/deliveries/${test.body.id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: test.body.id, webhook_id: id, response_status: null, error: null })
    expect(JSON.parse(body.request_body)).toEqual({ event: 'test', sent_at: expect.any(String) })
  })

  it('are listed newest first, page by page and by state', async () => {
    const { id } = await added()
    const ids = [await addedDelivery(id), await addedDelivery(id), await addedDelivery(id)].map(
      (one) => one.id,
    )
    await harness.database.pool.query(
      `UPDATE webhook_deliveries SET state = 'failed', created_at = created_at + interval '1 hour' WHERE id = $1`,
      [ids[0]],
    )
    const page = await send('GET', `/${id}/deliveries?per_page=2`)
    expect(page.body[0]).toMatchObject({ id: ids[0], state: 'failed' })
    expect(page.body[0]).not.toHaveProperty('request_body')
    expect([page.body.length, page.headers.get('x-total')]).toEqual([2, '3'])
    expect((await send('GET', `/${id}/deliveries?state=pending`)).body).toHaveLength(2)
    expect(await send('GET', `/${id}/deliveries?state=odd`)).toMatchObject({
      status: 400,
      body: { error: 'state does not have a valid value' },
    })
  })

  it('are sent again on request, under the same id', async () => {
    const { id } = await added()
    const delivery = await addedDelivery(id)
    await harness.database.prisma.webhookDelivery.updateMany({
      data: { state: 'succeeded', attempts: 3, nextAttemptAt: null },
    })
    expect(await send('POST', `/${id}/deliveries/${delivery.id}/redeliver`)).toMatchObject({
      status: 202,
      body: { id: delivery.id, state: 'pending', attempts: 0, next_attempt_at: expect.any(String) },
    })
  })

  it('are not found under another webhook, or when they do not exist', async () => {
    const [first, second] = [await added(), await added()]
    const delivery = await addedDelivery(first.id)
    for (const path of [
      `/${second.id}/deliveries/${delivery.id}`,
      `/${first.id}/deliveries/${randomUUID()}`,
    ]) {
      expect(await send('GET', path)).toMatchObject({
        status: 404,
        body: { message: '404 Delivery Not Found' },
      })
      expect((await send('POST', `${path}/redeliver`)).status).toBe(404)
    }
  })

  it('are not created for a disabled webhook', async () => {
    const { id } = await added()
    const delivery = await addedDelivery(id)
    await send('PUT', `/${id}`, { enabled: false })
    const refusal = { status: 409, body: { message: 'The webhook is disabled. Enable it first.' } }
    expect(await send('POST', `/${id}/test`)).toMatchObject(refusal)
    expect(await send('POST', `/${id}/deliveries/${delivery.id}/redeliver`)).toMatchObject(refusal)
  })
})

describe('the audit log', () => {
  it('records who created, changed and deleted a webhook, and never its full address', async () => {
    await harness.database.prisma.auditEvent.deleteMany()
    const { id } = await added()
    await send('PUT', `/${id}`, { events: ['saga.ended'] })
    await send('PUT', `/${id}`, { events: ['saga.unknown'] })
    await send('DELETE', `/${id}`)
    await send('DELETE', `/${id}`)
    const log = await harness.database.prisma.auditEvent.findMany({ orderBy: { id: 'asc' } })
    const about = { entityType: 'Webhook', entityId: String(id), authorId: expect.any(Number) }
    const details = { webhook_id: id, scope: 'saga', host: 'hooks.example.com', enabled: true }
    expect(log).toMatchObject([
      { ...about, eventName: 'webhook_created', details: { ...details, events: given.events } },
      { ...about, eventName: 'webhook_changed', details: { ...details, events: ['saga.ended'] } },
      { ...about, eventName: 'webhook_deleted', details },
    ])
    expect(JSON.stringify(log.map((event) => event.details))).not.toContain('?b=c')
  })
})
