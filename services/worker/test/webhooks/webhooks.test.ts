import { createProject, createUser } from '@switchyard/testing'
import { enqueueDeliveries, redeliver } from '@switchyard/webhooks'
import { verify } from '@switchyard/webhooks/signature'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startHarness } from '../harness.js'
import {
  addDelivery,
  addWebhook,
  findDelivery,
  makeDue,
  ok,
  secret,
  startReceiver,
} from './webhook-receiver.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let worker: Awaited<ReturnType<typeof harness.startWorker>>
const receivers: { close(): void }[] = []
beforeAll(async () => {
  harness = await startHarness()
  worker = await harness.startWorker({ WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' })
})
afterEach(async () => {
  for (const receiver of receivers.splice(0)) receiver.close()
  await harness.database.prisma.webhook.deleteMany()
})
afterAll(async () => {
  await worker.close()
  await harness.close()
})

async function receiver(...given: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...given)
  receivers.push(started)
  return started
}

const webhook = (id: number) => harness.database.prisma.webhook.findUniqueOrThrow({ where: { id } })

const endOf = async (webhookId: number, id: string) => {
  await expect
    .poll(async () => (await findDelivery(harness.database, webhookId, id)).state)
    .not.toBe('pending')
  return findDelivery(harness.database, webhookId, id)
}

const attemptsOf = async (webhookId: number, id: string) => {
  const { error, attempts } = await findDelivery(harness.database, webhookId, id)
  return error === null ? 0 : attempts
}

it('webhooks send a signed request and store the answer', async () => {
  const { url, requests } = await receiver((response) => {
    response.setHeader('X-Answer', 'yes')
    response.end('x'.repeat(5000))
  })
  const { id: hook } = await addWebhook(harness.database, url)
  const id = await addDelivery(harness.database, hook)
  const delivery = await endOf(hook, id)
  expect(delivery).toMatchObject({
    state: 'succeeded',
    attempts: 1,
    nextAttemptAt: null,
    responseStatus: 200,
    responseBody: 'x'.repeat(1024),
    error: null,
  })
  expect(delivery.responseHeaders).toMatchObject({ 'x-answer': 'yes' })
  expect(delivery.durationMs).toBeGreaterThanOrEqual(0)
  const [request] = requests
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-switchyard-event': 'test',
    'x-switchyard-delivery': id,
  })
  expect(request?.headers).not.toHaveProperty('x-gitlab-token')
  const signature = String(request?.headers['x-switchyard-signature'])
  expect(verify({ secret, signature, body: request?.body ?? '' })).toBe(true)
  expect(verify({ secret: 'another', signature, body: request?.body ?? '' })).toBe(false)
})

it('webhooks send a failed delivery again later, under the same id with a new signature', async () => {
  const { url, requests } = await receiver((response, number) =>
    number === 1 ? response.writeHead(500).end('oh') : ok(response),
  )
  const { id: hook } = await addWebhook(harness.database, url)
  const id = await addDelivery(harness.database, hook)
  await expect.poll(() => attemptsOf(hook, id)).toBe(1)
  const failed = await findDelivery(harness.database, hook, id)
  expect(failed).toMatchObject({ state: 'pending', responseStatus: 500, responseBody: 'oh' })
  expect(failed.error).toBe('the target answered 500')
  const waitMs = Number(failed.nextAttemptAt) - Number(failed.attemptedAt)
  expect(waitMs).toBeGreaterThan(20_000)
  expect(waitMs).toBeLessThan(40_000)
  expect(await webhook(hook)).toMatchObject({ consecutiveFailures: 1, failingSince: expect.any(Date) })

  await makeDue(harness.database, id)
  expect(await endOf(hook, id)).toMatchObject({ state: 'succeeded', attempts: 2, error: null })
  expect(requests.map(({ headers }) => headers['x-switchyard-delivery'])).toEqual([id, id])
  expect(requests[0]?.body).toBe(requests[1]?.body)
  expect(await webhook(hook)).toMatchObject({ consecutiveFailures: 0, failingSince: null })
})

it('webhooks of one host take turns, however many deliveries one of them has', async () => {
  const busy = await receiver((response) => setTimeout(() => ok(response), 1000))
  const { id: busyHook } = await addWebhook(harness.database, busy.url)
  await harness.database.pool.query(
    `INSERT INTO webhook_deliveries (webhook_id, event, dedupe_key, payload, next_attempt_at)
     SELECT $1, 'test', number, '{}', now() FROM generate_series(1, 200) number`,
    [busyHook],
  )
  const calm = await receiver(ok)
  const { id: calmHook } = await addWebhook(harness.database, calm.url)
  const id = await addDelivery(harness.database, calmHook)
  expect(await endOf(calmHook, id)).toMatchObject({ state: 'succeeded' })
  const where = { webhookId: busyHook, state: 'pending' }
  expect(await harness.database.prisma.webhookDelivery.count({ where })).toBeGreaterThan(100)
  await harness.database.prisma.webhook.delete({ where: { id: busyHook } })
})

it('webhooks send a delivery again when that is requested during an attempt', async () => {
  const held: Parameters<typeof ok>[0][] = []
  const { url, requests } = await receiver((response, number) =>
    number === 1 ? held.push(response) : ok(response),
  )
  const { id: hook } = await addWebhook(harness.database, url)
  const id = await addDelivery(harness.database, hook)
  await expect.poll(() => held.length).toBe(1)
  await redeliver(harness.database, hook, id, new Date())
  for (const response of held) ok(response)
  expect(await endOf(hook, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  expect(requests).toHaveLength(2)
})

it('webhooks wait as long as their receiver asks, with all pending deliveries for it', async () => {
  const { url, requests } = await receiver((response, number) =>
    number === 1 ? response.writeHead(429, { 'Retry-After': '3600' }).end() : ok(response),
  )
  const { id: hook } = await addWebhook(harness.database, url)
  const id = await addDelivery(harness.database, hook)
  const other = await addWebhook(harness.database, (await receiver(ok)).url)
  await harness.database.pool.query(
    `INSERT INTO webhook_deliveries (webhook_id, event, dedupe_key, payload, next_attempt_at)
     VALUES ($1, 'test', 'pending', '{}', now() + interval '5 minutes'),
       ($2, 'test', 'pending', '{}', now() + interval '5 minutes')`,
    [hook, other.id],
  )
  await expect.poll(() => attemptsOf(hook, id)).toBe(1)
  const minutes = async (webhookId: number) => {
    const { rows } = await harness.database.pool.query<{ minutes: number }>(
      `SELECT round(extract(epoch FROM next_attempt_at - now()) / 60)::int AS minutes FROM webhook_deliveries
       WHERE webhook_id = $1 AND state = 'pending'`,
      [webhookId],
    )
    return rows.map((row) => row.minutes)
  }
  await expect.poll(() => minutes(hook)).toEqual([60, 60])
  expect(await minutes(other.id)).toEqual([5])
  expect(requests).toHaveLength(1)
})

it('webhooks give up after the tenth attempt, and start again when a redelivery is requested', async () => {
  let up = false
  const { url, requests } = await receiver((response) => (up ? ok(response) : response.writeHead(503).end()))
  const { id: hook } = await addWebhook(harness.database, url)
  const id = await addDelivery(harness.database, hook, 9)
  expect(await endOf(hook, id)).toMatchObject({ state: 'failed', attempts: 10, nextAttemptAt: null })
  up = true
  await redeliver(harness.database, hook, id, new Date())
  expect(await endOf(hook, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  expect(new Set(requests.map(({ headers }) => headers['x-switchyard-delivery']))).toEqual(new Set([id]))
})

it('webhooks receive an event once, however often it is stored', async () => {
  const { url, requests } = await receiver(ok)
  const { id: hook } = await addWebhook(harness.database, url)
  const event = { webhookId: hook, event: 'test', dedupeKey: 'same', payload: '{}' }
  const both = await Promise.all([
    enqueueDeliveries(harness.database.pool, [event]),
    enqueueDeliveries(harness.database.pool, [event]),
  ])
  const [id = ''] = both.flat()
  expect(both.flat()).toHaveLength(1)
  await endOf(hook, id)
  expect(await enqueueDeliveries(harness.database.pool, [event])).toEqual([])
  expect(requests).toHaveLength(1)
})

it('webhooks are disabled by 410 Gone, and pending deliveries then wait until they are enabled', async () => {
  const { url, requests } = await receiver((response) => response.writeHead(410).end())
  const { id: hook } = await addWebhook(harness.database, url)
  const id = await addDelivery(harness.database, hook)
  expect(await endOf(hook, id)).toMatchObject({ state: 'failed', attempts: 1 })
  await expect.poll(async () => (await webhook(hook)).enabled).toBe(false)
  expect(await webhook(hook)).toMatchObject({ disabledReason: 'the target answered 410 Gone' })
  const waiting = await addDelivery(harness.database, hook)
  const dispatched = await harness.queue('webhook-dispatch').add('webhook-dispatch', {})
  await expect.poll(() => dispatched.getState()).toBe('completed')
  expect(await findDelivery(harness.database, hook, waiting)).toMatchObject({ state: 'pending', attempts: 0 })
  expect(requests).toHaveLength(1)
})

it('webhooks are disabled when nothing has succeeded for days', async () => {
  const { url } = await receiver((response) => response.writeHead(500).end())
  const { id: hook } = await addWebhook(harness.database, url)
  const failingSince = new Date(Date.now() - 6 * 86_400_000)
  await harness.database.prisma.webhook.update({
    where: { id: hook },
    data: { failingSince, consecutiveFailures: 30 },
  })
  await addDelivery(harness.database, hook)
  await expect.poll(async () => (await webhook(hook)).enabled).toBe(false)
  expect((await webhook(hook)).disabledReason).toBe(
    `no delivery has succeeded since ${failingSince.toISOString()}`,
  )
})

it('webhooks do not follow redirects', async () => {
  const inside = await receiver(ok)
  const { url } = await receiver((response) => response.writeHead(302, { Location: inside.url }).end())
  const { id: hook } = await addWebhook(harness.database, url)
  const id = await addDelivery(harness.database, hook)
  await expect.poll(() => attemptsOf(hook, id)).toBe(1)
  expect((await findDelivery(harness.database, hook, id)).error).toBe(
    'redirect: the target answered 302; redirects are not followed',
  )
  expect(inside.requests).toEqual([])
})

it('webhooks never reach private addresses that are not explicitly allowed', async () => {
  const { url, requests } = await receiver(ok)
  const { port } = new URL(url)
  for (const host of ['127.0.0.2', '[::1]', '[::ffff:127.0.0.2]']) {
    const { id: hook } = await addWebhook(harness.database, `http://${host}:${port}/`)
    const id = await addDelivery(harness.database, hook)
    await expect.poll(() => attemptsOf(hook, id)).toBe(1)
    const { error, responseStatus } = await findDelivery(harness.database, hook, id)
    expect(error).toMatch(/is not a public address/)
    expect(responseStatus).toBeNull()
  }
  expect(requests).toEqual([])
})

it('webhooks of projects send the headers that receivers of GitLab read', async () => {
  const { url, requests } = await receiver(ok)
  const owner = await createUser(harness.database)
  const project = await createProject(harness.database, owner)
  const { id: hook } = await addWebhook(harness.database, url)
  await harness.database.prisma.webhook.update({
    where: { id: hook },
    data: { scope: 'project', tenant: null, projectId: project.id },
  })
  const [id = ''] = await enqueueDeliveries(harness.database.pool, [
    {
      webhookId: hook,
      event: 'push',
      dedupeKey: 'push-1',
      payload: '{"object_kind":"push"}',
      requestHeaders: { 'X-Gitlab-Event': 'Push Hook' },
    },
  ])
  await endOf(hook, id)
  expect(requests[0]?.headers).toMatchObject({
    'x-gitlab-event': 'Push Hook',
    'x-gitlab-token': secret,
    'x-gitlab-event-uuid': id,
    'x-switchyard-event': 'push',
  })
})

it('webhooks are not delayed by a target that does not answer', async () => {
  const silent = await receiver(() => {})
  const quick = await receiver(ok)
  const { id: slowHook } = await addWebhook(harness.database, silent.url, { host: 'silent' })
  const { id: quickHook } = await addWebhook(harness.database, quick.url)
  for (let count = 0; count < 40; count += 1) await addDelivery(harness.database, slowHook)
  await expect.poll(() => silent.requests.length).toBe(4)
  const id = await addDelivery(harness.database, quickHook)
  expect(await endOf(quickHook, id)).toMatchObject({ state: 'succeeded' })
  expect(silent.requests).toHaveLength(4)
})

it('webhooks of one host are delayed by one time-out of another webhook at most', async () => {
  const silent = await receiver(() => {})
  const quick = await receiver(ok)
  const { id: silentHook } = await addWebhook(harness.database, silent.url)
  const { id: quickHook } = await addWebhook(harness.database, quick.url)
  for (let count = 0; count < 40; count += 1) await addDelivery(harness.database, silentHook)
  const ids: string[] = []
  for (let count = 0; count < 40; count += 1) ids.push(await addDelivery(harness.database, quickHook))
  for (const id of ids) expect(await endOf(quickHook, id)).toMatchObject({ state: 'succeeded' })
  expect(silent.requests.length).toBeLessThanOrEqual(4)
})

it('webhooks keep no delivery over 30 days', async () => {
  const { url } = await receiver(ok)
  const { id: hook } = await addWebhook(harness.database, url, { enabled: false })
  const old = await addDelivery(harness.database, hook)
  const young = await addDelivery(harness.database, hook)
  const days = (id: string, count: number) =>
    harness.database.pool.query(
      `UPDATE webhook_deliveries SET created_at = now() - $2 * interval '1 day' WHERE id = $1`,
      [id, count],
    )
  await Promise.all([days(old, 31), days(young, 29)])
  const job = await harness.queue('webhook-retention').add('webhook-retention', {})
  await expect.poll(() => job.getState()).toBe('completed')
  const left = await harness.database.prisma.webhookDelivery.findMany({ where: { webhookId: hook } })
  expect(left.map(({ id }) => id)).toEqual([young])
})

it('webhooks are counted by target and result', async () => {
  const text = await (await fetch(`${worker.baseUrl}/metrics`)).text()
  expect(text).toMatch(
    /saga_webhook_deliveries_total\{target="127.0.0.1",result="succeeded",service="worker"\} \d/,
  )
  expect(text).toMatch(/project_webhook_deliveries_total\{result="succeeded",service="worker"\} 1/)
})
