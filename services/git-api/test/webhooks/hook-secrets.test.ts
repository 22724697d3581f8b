import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
let hooks: string
let withKey: string
beforeAll(async () => {
  harness = await startHarness()
  const project = await outcome(harness.send('owner', 'POST', '/projects', json({ path: 'hooked' })))
  hooks = `/projects/${project.body?.id}/hooks`
  withKey = await harness.start({ WEBHOOK_SECRET_KEYS: randomBytes(32).toString('base64') })
})
afterAll(() => harness?.close())

const token = 'whsec-of-a-project'
const send = (method: string, path: string, fields: object, base = harness.baseUrl) =>
  outcome(harness.send('owner', method, path, json({ url: 'https://hooks.example.com/', ...fields }), base))
const row = (id: unknown) => harness.database.prisma.webhook.findUniqueOrThrow({ where: { id: Number(id) } })

it('without a key, a webhook with a secret is refused, and one without a secret is accepted', async () => {
  const refused = {
    status: 503,
    body: { message: '503 Service Unavailable - WEBHOOK_SECRET_KEYS is not set' },
  }
  expect(await send('POST', hooks, { token })).toEqual(refused)
  const made = await send('POST', hooks, {})
  expect(made).toMatchObject({ status: 201 })
  expect(await send('PUT', `${hooks}/${made.body?.id}`, { token })).toEqual(refused)
  expect(await row(made.body?.id)).toMatchObject({ secret: null, encryptedSecret: null, secretKeyId: null })
})

it('a secret is stored encrypted, stays when other fields change, and is removed when it is empty', async () => {
  const made = await send('POST', hooks, { token }, withKey)
  const path = `${hooks}/${made.body?.id}`
  const before = await row(made.body?.id)
  expect(before).toMatchObject({ secret: null, secretKeyId: expect.stringMatching(/^[0-9a-f]{16}$/) })
  expect(Buffer.from(before.encryptedSecret ?? []).toString('latin1')).not.toContain(token)
  expect(await send('PUT', path, { note_events: true }, withKey)).toMatchObject({ status: 200 })
  expect((await row(made.body?.id)).encryptedSecret).toEqual(before.encryptedSecret)
  expect(await send('PUT', path, { token: '' })).toMatchObject({ status: 200 })
  expect(await row(made.body?.id)).toMatchObject({ secret: null, encryptedSecret: null, secretKeyId: null })
})
