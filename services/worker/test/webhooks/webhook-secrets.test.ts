import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { targetPolicy } from '@switchyard/outbound-http'
import { bundled, programEnvironment } from '@switchyard/testing'
import { changeWebhook } from '@switchyard/webhooks'
import { verify } from '@switchyard/webhooks/signature'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startHarness, webhookSecretKeys } from '../harness.js'
import {
  addDelivery,
  addWebhook,
  findDelivery,
  makeDue,
  ok,
  secret,
  secretBox,
  startReceiver,
} from './webhook-receiver.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
const stops: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  harness = await startHarness()
})
beforeEach(async () => {
  receiver = await startReceiver(ok)
})
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
  receiver.close()
  await harness.database.prisma.webhook.deleteMany()
  await harness.redis.flushall()
})
afterAll(() => harness?.close())

async function startWorker(keys: string) {
  const worker = await harness.startWorker({
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    // Simulates an environment in which the variable is not set.
    ...(keys === ''
      ? { WEBHOOK_SECRET_KEYS: undefined as unknown as string }
      : { WEBHOOK_SECRET_KEYS: keys }),
  })
  stops.push(() => worker.close())
  return worker
}

const secretRow = (id: number) =>
  harness.database.prisma.webhook.findUniqueOrThrow({
    where: { id },
    select: { secret: true, encryptedSecret: true, secretKeyId: true },
  })

/** Adds a webhook as a version without encryption left it. */
async function plainWebhook() {
  const { id } = await addWebhook(harness.database, receiver.url, { secret: null })
  await harness.database.prisma.webhook.update({ where: { id }, data: { secret } })
  return id
}

async function expectSigned(webhookId: number) {
  const before = receiver.requests.length
  await addDelivery(harness.database, webhookId)
  await expect.poll(() => receiver.requests.length).toBe(before + 1)
  const request = receiver.requests[before]
  const signature = String(request?.headers['x-switchyard-signature'])
  expect(verify({ secret, signature, body: request?.body ?? '' })).toBe(true)
}

async function readiness(baseUrl: string) {
  const response = await fetch(`${baseUrl}/-/readiness`)
  const { checks } = (await response.json()) as { checks: Record<string, string> }
  return { status: response.status, check: checks['webhook-secrets'] }
}

it('secrets that were stored unencrypted are encrypted when a worker starts, and still sign', async () => {
  const ids = [await plainWebhook(), await plainWebhook()]
  const withoutSecret = await addWebhook(harness.database, receiver.url, { secret: null })
  const { baseUrl } = await startWorker(webhookSecretKeys)
  for (const id of ids) {
    await expect.poll(async () => (await secretRow(id)).secret).toBe(null)
    const { encryptedSecret } = await secretRow(id)
    expect(Buffer.from(encryptedSecret ?? []).toString('latin1')).not.toContain(secret)
    await expectSigned(id)
  }
  expect(await secretRow(withoutSecret.id)).toEqual({
    secret: null,
    encryptedSecret: null,
    secretKeyId: null,
  })
  await expect.poll(() => readiness(baseUrl)).toEqual({ status: 200, check: 'ok' })
})

it('secrets and values of headers move to a new key', async () => {
  const headers = { names: ['X-Key'], values: secretBox.encrypt('["value of the header"]') }
  const { id } = await addWebhook(harness.database, receiver.url, { headers })
  const newKey = randomBytes(32).toString('base64')
  await startWorker(`${newKey},${webhookSecretKeys}`)
  const keyOf = async () =>
    (await harness.database.prisma.webhook.findUniqueOrThrow({ where: { id } })).headersKeyId
  await expect.poll(keyOf).not.toBe(headers.values.keyId)
  await stops.pop()?.()
  await startWorker(newKey)
  await addDelivery(harness.database, id)
  await expect.poll(() => receiver.requests.at(-1)?.headers['x-key']).toBe('value of the header')
})

it('secrets move to a new key, after which the old one can be removed', async () => {
  const { id } = await addWebhook(harness.database, receiver.url)
  const before = await secretRow(id)
  const newKey = randomBytes(32).toString('base64')
  await startWorker(`${newKey},${webhookSecretKeys}`)
  await expect.poll(async () => (await secretRow(id)).secretKeyId).not.toBe(before.secretKeyId)
  await stops.pop()?.()
  const { baseUrl } = await startWorker(newKey)
  await expectSigned(id)
  await expect.poll(() => readiness(baseUrl)).toEqual({ status: 200, check: 'ok' })
})

it('secrets without their key are not lost, and nothing is sent unsigned: readiness and the delivery name the key', async () => {
  const { id } = await addWebhook(harness.database, receiver.url)
  const before = await secretRow(id)
  const { baseUrl } = await startWorker(randomBytes(32).toString('base64'))
  await expect
    .poll(() => readiness(baseUrl))
    .toEqual({
      status: 503,
      check: `secrets of webhooks are encrypted with keys that WEBHOOK_SECRET_KEYS lacks: ${before.secretKeyId}`,
    })
  const delivery = await addDelivery(harness.database, id)
  await expect
    .poll(async () => (await findDelivery(harness.database, id, delivery)).error)
    .toBe(`the secret's key ${before.secretKeyId} is not among WEBHOOK_SECRET_KEYS`)
  expect(receiver.requests).toHaveLength(0)
  expect(await secretRow(id)).toEqual(before)
  await stops.pop()?.()
  await startWorker(webhookSecretKeys)
  await makeDue(harness.database, delivery)
  await expect.poll(() => receiver.requests.length).toBe(1)
})

it('secrets that are not encrypted make a worker without a key not ready', async () => {
  const id = await plainWebhook()
  const { baseUrl } = await startWorker('')
  await expect
    .poll(() => readiness(baseUrl))
    .toEqual({
      status: 503,
      check: 'secrets of webhooks are not encrypted: WEBHOOK_SECRET_KEYS is not set',
    })
  await expectSigned(id)
})

it('secrets and their keys are in no log line of the worker', async () => {
  await plainWebhook()
  const { id } = await addWebhook(harness.database, receiver.url)
  await harness.database.pool.query(`UPDATE webhooks SET encrypted_secret = '\\x00' WHERE id = $1`, [id])
  const delivery = await addDelivery(harness.database, id)
  const env = {
    ...programEnvironment(),
    ...harness.environment,
    // Only secrets of another key are decrypted when the worker starts.
    WEBHOOK_SECRET_KEYS: `${randomBytes(32).toString('base64')},${webhookSecretKeys}`,
    LOG_LEVEL: 'trace',
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
  }
  const main = await bundled('services/worker')
  const child: ChildProcess = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  stops.push(async () => {
    child.kill('SIGKILL')
    await exited
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk))
  await expect.poll(() => said).toContain('could not decrypt secrets of webhooks')
  await expect
    .poll(async () => (await findDelivery(harness.database, id, delivery)).error)
    .toBe('the secret is damaged')
  expect(said).not.toContain(secret)
  expect(said).not.toContain(webhookSecretKeys)
})

it('secrets that were replaced sign beside the new one for a day, and are then deleted', async () => {
  const { id } = await addWebhook(harness.database, receiver.url)
  const rules = {
    policy: targetPolicy({ WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', WEBHOOK_ALLOW_PRIVATE_NETWORKS: false }),
    knownEvents: [],
    eventsMin: 0,
    secret: { parameter: 'secret', lengthMin: 0 },
    secretBox,
  }
  const owner = { scope: 'saga', tenant: 'default' } as const
  const author = { authorId: 1, authorName: 'root', tokenId: 1, requestId: 'request', ipAddress: null }
  const change = (text: string | null) =>
    changeWebhook(harness.database, owner, { id, changes: { secret: text } }, rules, author)
  const known = ['the-next-secret-of-all', secret, 'nobody-ever-had-this-one']
  const goodWith = async () => {
    const before = receiver.requests.length
    await addDelivery(harness.database, id)
    await expect.poll(() => receiver.requests.length).toBe(before + 1)
    const { headers, body = '' } = receiver.requests[before] ?? {}
    return known.map((each) => verify({ secret: each, signature: headers?.['x-switchyard-signature'], body }))
  }
  const previous = () =>
    harness.database.prisma.webhook.findUniqueOrThrow({
      where: { id },
      select: { previousSecret: true, previousSecretUntil: true },
    })

  await startWorker(webhookSecretKeys)
  expect(await goodWith()).toEqual([false, true, false])
  await change('the-next-secret-of-all')
  expect(await goodWith()).toEqual([true, true, false])
  // A tool that sets the secret at every run does not shorten the day.
  const { previousSecretUntil } = await previous()
  await change('the-next-secret-of-all')
  expect(await previous()).toMatchObject({ previousSecretUntil })
  expect(await goodWith()).toEqual([true, true, false])
  expect(Number(previousSecretUntil) - Date.now()).toBeGreaterThan(23 * 3_600_000)

  await harness.database.pool.query("UPDATE webhooks SET previous_secret_until = now() - interval '1 s'")
  expect(await goodWith()).toEqual([true, false, false])
  await harness.queue('webhook-secret-encryption').add('webhook-secret-encryption', {})
  await expect.poll(previous).toEqual({ previousSecret: null, previousSecretUntil: null })

  await change('nobody-ever-had-this-one')
  await change(null)
  expect(await goodWith()).toEqual([false, false, false])
  expect(await previous()).toEqual({ previousSecret: null, previousSecretUntil: null })
})
