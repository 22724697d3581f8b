import { createToken } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'
import { openBrowser, own } from './session-browser.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ env: { USER_TOKEN_LIFETIME_DAYS_MAX: '30' } })
})
afterAll(() => harness?.close())

const { api, signIn } = openBrowser(() => harness)

const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

const make = (Cookie: string, given: object, base?: string) => {
  const { body, headers } = json({ name: 'mine', scopes: ['read_api'], ...given })
  return outcome(
    api(
      '/user/personal_access_tokens',
      { method: 'POST', body: body ?? null, headers: { ...own, ...(headers as object), Cookie } },
      base,
    ),
  )
}

describe('a token that users create for themselves', () => {
  it('works, lives as long as the settings allow, and is recorded in the audit log', async () => {
    const cookie = await signIn(harness.tokens.user)
    const { status, body } = await make(cookie, { name: 'laptop', scopes: ['read_api', 'read_repository'] })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'laptop',
      user_id: harness.users.user.id,
      scopes: ['read_api', 'read_repository'],
      expires_at: dayIn(30),
    })
    expect((await harness.send(String(body?.token), 'GET', '/user')).status).toBe(200)
    const sooner = await make(cookie, { expires_at: dayIn(2) })
    expect(sooner.body).toMatchObject({ expires_at: dayIn(2) })
    const event = await harness.database.prisma.auditEvent.findFirst({ orderBy: { id: 'desc' } })
    expect(event).toMatchObject({
      eventName: 'personal_access_token_created',
      authorId: harness.users.user.id,
      details: { name: 'mine', scopes: ['read_api'] },
    })
  })

  it('lives no longer than the settings and the token of the session allow', async () => {
    const cookie = await signIn(harness.tokens.user)
    expect((await make(cookie, { expires_at: dayIn(31) })).status).toBe(400)
    const short = { expiresAt: new Date(dayIn(3)), tenants: ['acme'] }
    const { secret } = await createToken(harness.database, harness.users.user, short)
    const { body } = await make(await signIn(secret), {})
    expect(body).toMatchObject({ expires_at: dayIn(3), tenants: ['acme'] })
  })

  it('has at most the rights of the session', async () => {
    const cookie = await signIn(harness.tokens.user)
    expect((await make(cookie, { scopes: ['read_sagas'] })).status).toBe(403)
    const reading = await signIn(await harness.secretOf(harness.users.user, ['read_api']))
    expect((await make(reading, {})).status).toBe(403)
  })

  it('needs a session, a name and scopes', async () => {
    const given = json({ name: 'mine', scopes: ['read_api'] })
    expect((await harness.send('user', 'POST', '/user/personal_access_tokens', given)).status).toBe(403)
    expect((await harness.send('guest', 'POST', '/user/personal_access_tokens', given)).status).toBe(401)
    const cookie = await signIn(harness.tokens.user)
    for (const bad of [{ name: '' }, { scopes: [] }, { scopes: ['everything'] }])
      expect((await make(cookie, bad)).status).toBe(400)
  })

  it('cannot be created unless the settings allow it', async () => {
    const other = await startHarness()
    try {
      const cookie = await openBrowser(() => other).signIn(other.tokens.user)
      expect((await make(cookie, {}, other.baseUrl)).status).toBe(403)
    } finally {
      await other.close()
    }
  })
})
