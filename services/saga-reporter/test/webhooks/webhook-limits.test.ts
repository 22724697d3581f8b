import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTokens, startHarness } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
beforeAll(async () => {
  harness = await startHarness()
  tokens = await createTokens(harness.database)
})
afterAll(() => harness?.close())

it('a tenant has 100 webhooks at most, also after parallel requests', async () => {
  const fields = { url: 'https://example.com/', events: ['saga.error'] }
  const known = Array.from({ length: 99 }, () => ({
    ...fields,
    scope: 'saga' as const,
    host: 'example.com',
    tenant: 'full',
  }))
  await harness.database.prisma.webhook.createMany({ data: known })
  const add = async (tenant: string) => {
    const response = await fetch(`${harness.baseUrl}/api/v4/sagas/webhooks`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': tokens.administrator, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...fields, secret: 'whsec-0123456789abcdef', tenant }),
    })
    return { status: response.status, body: await response.json() }
  }
  const answers = await Promise.all([add('full'), add('full'), add('full')])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422])
  expect(await add('full')).toMatchObject({
    status: 422,
    body: { message: 'Maximum number of saga hooks (100) exceeded' },
  })
  expect((await add('other')).status).toBe(201)
})
