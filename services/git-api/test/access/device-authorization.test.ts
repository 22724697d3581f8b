import { createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'
import { openBrowser, own } from './session-browser.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ env: { DEVICE_TOKEN_LIFETIME_DAYS: '30' } })
})
afterAll(() => harness?.close())

const { api, signIn } = openBrowser(() => harness)

type Fields = Record<string, string>

async function post(path: string, fields: Fields, base = harness.baseUrl) {
  const answer = await fetch(`${base}/oauth/${path}`, { method: 'POST', body: new URLSearchParams(fields) })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Fields }
}

const ask = (fields: Fields = {}) =>
  post('authorize_device', { client_id: 'switchyard', scope: 'read_api', ...fields })

const poll = (device_code = '', fields: Fields = {}) =>
  post('token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: 'switchyard',
    device_code,
    ...fields,
  })

const look = (Cookie: string, user_code = '') =>
  outcome(
    api(`/user/device_authorization?${new URLSearchParams({ user_code })}`, { headers: { ...own, Cookie } }),
  )

async function decide(Cookie: string, decision: 'allow' | 'deny', user_code = '') {
  const { body = null, headers } = json({ user_code })
  const init = { method: 'POST', body, headers: { ...own, ...(headers as Fields), Cookie } }
  return (await api(`/user/device_authorization/${decision}`, init)).status
}

const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const lastEvents = (take: number) =>
  harness.database.prisma.auditEvent.findMany({ orderBy: { id: 'desc' }, take })

/** Deletes the requests, so that the requests of a test do not count in the next test. */
const forget = () => harness.database.prisma.deviceAuthorization.deleteMany()

/** Creates a session of a new user, whose wrong codes do not count for others. */
async function someone(scopes: Parameters<Harness['secretOf']>[1] = ['api']) {
  people += 1
  const user = await createUser(harness.database, { username: `person-${people}` })
  return { user, cookie: await signIn(await harness.secretOf(user, scopes)) }
}
let people = 0

describe('a program that a user allows', () => {
  it('gets one token with the displayed scopes, the name and an expiry', async () => {
    const { user, cookie } = await someone()
    const begun = await ask({ client_id: 'switchyard on laptop', scope: 'read_api read_repository' })
    const name = { client_id: 'switchyard on laptop' }
    expect(begun.headers.get('Cache-Control')).toBe('no-store')
    expect(begun.body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: `${harness.baseUrl}/console/device`,
      verification_uri_complete: `${harness.baseUrl}/console/device?user_code=${begun.body.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    const { device_code, user_code = '' } = begun.body
    expect((await poll(device_code, name)).body.error).toBe('authorization_pending')
    const typed = ` ${user_code.toLowerCase().replace('-', ' ')}`
    expect((await look(cookie, typed)).body).toEqual({
      client_name: 'switchyard on laptop',
      scopes: ['read_api', 'read_repository'],
      ip_address: '127.0.0.1',
      created_at: expect.any(String),
      expires_at: expect.any(String),
      token_expires_at: dayIn(30),
    })
    expect(await decide(cookie, 'allow', typed)).toBe(204)

    const answers = await Promise.all(Array.from({ length: 8 }, () => poll(device_code, name)))
    const [given] = answers.filter(({ status }) => status === 200)
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(7)
    expect(given?.headers.get('Cache-Control')).toBe('no-store')
    expect(given?.body).toMatchObject({ token_type: 'Bearer', scope: 'read_api read_repository' })
    const self = await harness.send(String(given?.body.access_token), 'GET', '/personal_access_tokens/self')
    expect(await self.json()).toMatchObject({
      name: 'switchyard on laptop',
      user_id: user.id,
      scopes: ['read_api', 'read_repository'],
      expires_at: dayIn(30),
    })
    expect(await lastEvents(2)).toMatchObject([
      {
        eventName: 'personal_access_token_created',
        authorId: user.id,
        details: { name: 'switchyard on laptop', scopes: ['read_api', 'read_repository'], device: true },
      },
      { eventName: 'device_allowed', authorId: user.id, details: { address: '127.0.0.1' } },
    ])
  })

  it('gets a token that lives no longer, and has no more tenants, than the session', async () => {
    const user = await createUser(harness.database, { username: 'bound' })
    const short = { expiresAt: new Date(dayIn(3)), tenants: ['acme'] }
    const cookie = await signIn((await createToken(harness.database, user, short)).secret)
    const { device_code, user_code } = (await ask()).body
    expect(await decide(cookie, 'allow', user_code)).toBe(204)
    const { access_token = '' } = (await poll(device_code)).body
    const self = await harness.send(access_token, 'GET', '/personal_access_tokens/self')
    expect(await self.json()).toMatchObject({ expires_at: dayIn(3), tenants: ['acme'] })
  })

  it('gets no more rights than the session', async () => {
    const { device_code, user_code } = (await ask({ scope: 'api read_sagas' })).body
    const { cookie } = await someone()
    expect(await decide(cookie, 'allow', user_code)).toBe(403)
    expect((await poll(device_code)).body.error).toBe('authorization_pending')
    expect(await decide((await someone(['read_api'])).cookie, 'allow', user_code)).toBe(403)
  })
})

describe('a program that no user allows', () => {
  it('learns that it was denied, however often it asks', async () => {
    const { cookie, user } = await someone()
    const { device_code, user_code } = (await ask()).body
    expect(await decide(cookie, 'deny', user_code)).toBe(204)
    expect((await poll(device_code)).body.error).toBe('access_denied')
    expect(await decide(cookie, 'allow', user_code)).toBe(404)
    expect((await poll(device_code)).body.error).toBe('access_denied')
    expect(await lastEvents(1)).toMatchObject([{ eventName: 'device_denied', authorId: user.id }])
  })

  it('learns that its code has expired, and nobody can allow it any more', async () => {
    const { cookie } = await someone()
    const { device_code, user_code } = (await ask()).body
    const past = { expiresAt: new Date(Date.now() - 1000) }
    await harness.database.prisma.deviceAuthorization.updateMany({ where: { allowed: null }, data: past })
    expect((await poll(device_code)).body.error).toBe('expired_token')
    expect((await look(cookie, user_code)).status).toBe(404)
    expect(await decide(cookie, 'allow', user_code)).toBe(404)
  })

  it('gets a longer interval each time that it asks too soon', async () => {
    await forget()
    const { device_code } = (await ask()).body
    const errors = [await poll(device_code), await poll(device_code), await poll(device_code)]
    expect(errors.map(({ body }) => body.error)).toEqual(['authorization_pending', 'slow_down', 'slow_down'])
    const stored = await harness.database.prisma.deviceAuthorization.findFirst()
    expect(stored?.intervalSeconds).toBe(15)
  })

  it('gets nothing for a wrong code or for the code of another program', async () => {
    const { device_code } = (await ask()).body
    expect((await poll('wrong')).body.error).toBe('invalid_grant')
    expect((await poll(device_code, { client_id: 'another' })).body.error).toBe('invalid_grant')
    const grant = { grant_type: 'authorization_code' }
    expect((await poll(device_code, grant)).body.error).toBe('unsupported_grant_type')
    expect((await post('token', { grant_type: 'x' })).body.error).toBe('unsupported_grant_type')
    expect((await post('token', {})).body.error).toBe('invalid_request')
  })
})

describe('the decision', () => {
  it('is made once; a second person with the code is too late', async () => {
    const [first, second] = [await someone(), await someone()]
    const { device_code, user_code } = (await ask()).body
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => decide(first.cookie, 'allow', user_code)),
      ...Array.from({ length: 4 }, () => decide(second.cookie, 'allow', user_code)),
    ])
    expect(answers.toSorted()).toEqual([204, ...Array(7).fill(404)])
    const winner = answers.indexOf(204) < 4 ? first : second
    const { access_token = '' } = (await poll(device_code)).body
    const user = await (await harness.send(access_token, 'GET', '/user')).json()
    expect(user).toMatchObject({ id: winner.user.id })
  })

  it('needs a person in a browser, on a page of this origin', async () => {
    const { user_code = '' } = (await ask()).body
    const path = `/user/device_authorization?user_code=${user_code}`
    expect((await harness.send('user', 'GET', path)).status).toBe(403)
    expect((await harness.send('guest', 'GET', path)).status).toBe(401)
    const allow = '/user/device_authorization/allow'
    expect((await harness.send('user', 'POST', allow, json({ user_code }))).status).toBe(403)
    const { cookie } = await someone()
    const { body = null, headers } = json({ user_code })
    const other = { ...(headers as Fields), Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' }
    expect((await api(allow, { method: 'POST', body, headers: other })).status).toBe(403)
  })

  it('fails when the user is blocked and when their token is revoked', async () => {
    const [blocked, revoked] = [await someone(), await someone()]
    const [one, other] = [(await ask()).body, (await ask()).body]
    await decide(blocked.cookie, 'allow', one.user_code)
    await decide(revoked.cookie, 'allow', other.user_code)
    await harness.send('admin', 'POST', `/users/${blocked.user.id}/block`)
    const [held] = await harness.database.prisma.personalAccessToken.findMany({
      where: { userId: revoked.user.id },
    })
    await harness.send('admin', 'DELETE', `/personal_access_tokens/${held?.id}`)
    expect((await poll(one.device_code)).body.error).toBe('access_denied')
    expect((await poll(other.device_code)).body.error).toBe('access_denied')
    expect((await look(blocked.cookie, one.user_code)).status).toBe(401)
  })

  it('limits guesses of codes, in parallel and by many people of one address', async () => {
    const other = await startHarness({ env: { DEVICE_TOKEN_LIFETIME_DAYS: '30' } })
    try {
      const browser = openBrowser(() => other)
      const guess = async (Cookie: string, code: string) =>
        (await browser.api(`/user/device_authorization?user_code=${code}`, { headers: { ...own, Cookie } }))
          .status
      const guesses = (cookie: string, count: number) =>
        Promise.all(Array.from({ length: count }, (_, index) => guess(cookie, `BBBB-BBB${index}`)))
      const answers = await guesses(await browser.signIn(other.tokens.user), 30)
      expect(answers.filter((status) => status === 404)).toHaveLength(10)
      expect(answers.filter((status) => status === 429)).toHaveLength(20)
      for (const username of ['a', 'b', 'c', 'd', 'e']) {
        const user = await createUser(other.database, { username })
        const found = await guesses(await browser.signIn(await other.secretOf(user)), 10)
        expect(new Set(found)).toEqual(new Set([username === 'e' ? 429 : 404]))
      }
    } finally {
      await other.close()
    }
  })
})

describe('requests of programs', () => {
  it.each([
    ['no name', { client_id: '' }, 'invalid_request'],
    ['a name that reorders what stands around it', { client_id: 'a\u202eb' }, 'invalid_request'],
    ['a name with a line break', { client_id: 'a\nb' }, 'invalid_request'],
    ['a name with NUL', { client_id: 'a\0b' }, 'invalid_request'],
    ['a huge name', { client_id: 'a'.repeat(101) }, 'invalid_request'],
    ['an unknown scope', { scope: 'api everything' }, 'invalid_scope'],
  ])('%s is refused in the words of OAuth', async (_what, fields, error) => {
    const { status, body } = await ask(fields)
    expect([status, body.error]).toEqual([400, error])
  })

  it('are displayed as plain text', async () => {
    const { cookie } = await someone()
    const { user_code } = (await ask({ client_id: '<img src=x onerror=alert(1)>' })).body
    expect((await look(cookie, user_code)).body?.client_name).toBe('<img src=x onerror=alert(1)>')
  })

  it('ask for read access when they name no scope, and are limited for each address', async () => {
    await forget()
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask({ scope: '' })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(10)
    expect(refused[0]?.body).toMatchObject({
      error: 'temporarily_unavailable',
      error_description: 'too many programs of this address wait to be allowed',
    })
    const stored = await harness.database.prisma.deviceAuthorization.findMany()
    expect(new Set(stored.map(({ scopes }) => scopes.join()))).toEqual(new Set(['read_api']))
    await forget()
  })

  it('are refused everywhere unless the settings let users allow programs', async () => {
    const other = await startHarness()
    try {
      expect((await post('authorize_device', { client_id: 'any' }, other.baseUrl)).status).toBe(404)
      expect((await post('token', { grant_type: 'any' }, other.baseUrl)).status).toBe(404)
      expect((await other.send('user', 'GET', '/user/device_authorization?user_code=any')).status).toBe(404)
    } finally {
      await other.close()
    }
  })
})
