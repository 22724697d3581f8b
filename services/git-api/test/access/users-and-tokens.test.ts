import { holdsWithinASecond } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { form, type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const unauthorized = { status: 401, body: { message: '401 Unauthorized' } }
const forbidden = { status: 403, body: { message: '403 Forbidden' } }
const insufficient = (scope: string) => ({
  status: 403,
  body: expect.objectContaining({ error: 'insufficient_scope', scope }),
})

let sequence = 0
const newUser = () => {
  sequence += 1
  return { username: `new-${sequence}`, name: `New ${sequence}`, email: `new-${sequence}@example.com` }
}

/** Creates a user and a token for them over HTTP. */
async function userWithToken(scopes = ['api'], expires_at?: string) {
  const made = await outcome(harness.send('admin', 'POST', '/users', json(newUser())))
  const id = Number(made.body?.id)
  const path = `/users/${id}/personal_access_tokens`
  const token = await outcome(harness.send('admin', 'POST', path, json({ name: 'ci', scopes, expires_at })))
  expect(token.status).toBe(201)
  return { id, token: token.body ?? {}, secret: String(token.body?.token) }
}

describe('GET /version and GET /user', () => {
  it('GET /metadata adds the parts of GitLab that do not exist here', async () => {
    const version = (await outcome(harness.send('user', 'GET', '/version'))).body
    const kas = { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null }
    expect(await outcome(harness.send('ownerReading', 'GET', '/metadata'))).toEqual({
      status: 200,
      body: { ...version, kas },
    })
    expect(await outcome(harness.send('guest', 'GET', '/metadata'))).toEqual(unauthorized)
    expect((await harness.send('ownerRepository', 'GET', '/metadata')).status).toBe(403)
  })

  it('a token with the scope read_user reads only users and the version', async () => {
    const { id, secret } = await userWithToken(['read_user'])
    const ask = (method: string, path: string, who = secret) => harness.send(who, method, path)
    expect((await outcome(ask('GET', '/user'))).body).toMatchObject({ id })
    expect((await ask('GET', `/users/${harness.users.owner.id}`)).status).toBe(200)
    expect(await outcome(ask('GET', '/users'))).toEqual(forbidden)
    const ofAdministrator = await harness.secretOf(harness.users.admin, ['read_user'])
    expect((await ask('GET', '/users', ofAdministrator)).status).toBe(200)
    for (const path of ['/version', '/metadata']) expect((await ask('GET', path)).status).toBe(200)
    for (const path of ['/projects', '/users/owner/projects', '/namespaces', '/personal_access_tokens'])
      expect((await ask('GET', path)).status).toBe(403)
    for (const path of ['/users', `/users/${id}/block`])
      expect((await ask('POST', path, ofAdministrator)).status).toBe(403)
    const git = `${harness.baseUrl}/owner/none.git/info/refs?service=git-upload-pack`
    const basic = { Authorization: `Basic ${Buffer.from(`any:${secret}`).toString('base64')}` }
    expect((await fetch(git, { headers: basic })).status).toBe(403)
  })

  it('answers every signed-in caller, including a read-only token', async () => {
    for (const who of ['admin', 'user', 'ownerReading']) {
      const { status, body } = await outcome(harness.send(who, 'GET', '/version'))
      expect(status).toBe(200)
      expect(body?.version).toMatch(/^\d+\.\d+\.\d+-switchyard$/)
      expect(body?.revision).toBe('0123456789a')
    }
  })

  it('shows callers all their own fields', async () => {
    const { status, body } = await outcome(harness.send('owner', 'GET', '/user'))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: harness.users.owner.id,
      username: 'Owner',
      state: 'active',
      email: 'owner@example.com',
      is_admin: false,
      avatar_url: null,
      web_url: `${harness.baseUrl}/Owner`,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
    })
  })

  it.each([
    ['/version', 'api read_api read_user'],
    ['/user', 'api read_api read_user'],
  ])('%s refuses guests, unknown tokens and tokens without scope', async (path, scopes) => {
    expect(await outcome(harness.send('guest', 'GET', path))).toEqual(unauthorized)
    expect(await outcome(harness.send('unknown', 'GET', path))).toEqual(unauthorized)
    expect(await outcome(harness.send('ownerRepository', 'GET', path))).toEqual(insufficient(scopes))
  })
})

describe('POST /users', () => {
  it('adds a user that can be read back, from JSON and from a form', async () => {
    const given = newUser()
    const made = await outcome(harness.send('admin', 'POST', '/users', json({ ...given, admin: true })))
    expect(made).toMatchObject({ status: 201, body: { ...given, is_admin: true, state: 'active' } })
    const found = await outcome(harness.send('admin', 'GET', `/users/${made.body?.id}`))
    expect(found).toEqual({ status: 200, body: made.body })

    const { status, body } = await outcome(harness.send('admin', 'POST', '/users', form(newUser())))
    expect({ status, admin: body?.is_admin }).toEqual({ status: 201, admin: false })
  })

  it('refuses a taken username or address, in any case', async () => {
    const given = newUser()
    await harness.send('admin', 'POST', '/users', json(given))
    const upper = { ...given, username: given.username.toUpperCase(), email: 'other@example.com' }
    expect(await outcome(harness.send('admin', 'POST', '/users', json(upper)))).toEqual({
      status: 409,
      body: { message: 'Username has already been taken' },
    })
    const sameEmail = { ...newUser(), email: given.email.toUpperCase() }
    expect(await outcome(harness.send('admin', 'POST', '/users', json(sameEmail)))).toEqual({
      status: 409,
      body: { message: 'Email has already been taken' },
    })
  })

  it.each([
    [{}, { error: 'email is missing, username is missing, name is missing' }],
    [{ ...newUser(), username: '' }, { error: 'username is empty' }],
    [{ ...newUser(), username: ['a'] }, { error: 'username is invalid' }],
    [{ ...newUser(), name: 'a\0b' }, { error: 'name is invalid' }],
    [{ ...newUser(), admin: 'perhaps' }, { error: 'admin is invalid' }],
    [{ ...newUser(), username: 'api' }, { message: { username: ['is a reserved name'] } }],
    [{ ...newUser(), email: 'nobody' }, { message: { email: ['is invalid'] } }],
    [{ ...newUser(), username: 'a.git' }, { message: { username: [expect.stringContaining('.git')] } }],
  ])('refuses %j', async (given, body) => {
    expect(await outcome(harness.send('admin', 'POST', '/users', json(given)))).toEqual({ status: 400, body })
  })

  it('needs an administrator with the scope api, whatever the body says', async () => {
    expect(await outcome(harness.send('guest', 'POST', '/users', json({})))).toEqual(unauthorized)
    expect(await outcome(harness.send('user', 'POST', '/users', json({})))).toEqual(forbidden)
    const reading = await harness.secretOf(harness.users.admin, ['read_api'])
    expect(await outcome(harness.send(reading, 'POST', '/users', json({})))).toEqual(insufficient('api'))
  })
})

describe('GET /users', () => {
  it('lists newest first, in pages, and filters by username and by part of a name', async () => {
    const response = await harness.send('admin', 'GET', '/users?per_page=2')
    const page = (await response.json()) as { id: number }[]
    expect(page).toHaveLength(2)
    expect(page[0]?.id).toBeGreaterThan(page[1]?.id ?? Number.POSITIVE_INFINITY)
    expect(response.headers.get('X-Next-Page')).toBe('2')
    expect(Number(response.headers.get('X-Total'))).toBeGreaterThan(3)

    const byName = await outcome(harness.send('admin', 'GET', '/users?username=oWNER'))
    expect(byName.body).toMatchObject([{ username: 'Owner', email: 'owner@example.com' }])
    const bySearch = await outcome(harness.send('admin', 'GET', '/users?search=RDINAR'))
    expect(bySearch.body).toMatchObject([{ username: 'ordinary' }])
  })

  it('needs an administrator', async () => {
    expect(await outcome(harness.send('guest', 'GET', '/users'))).toEqual(unauthorized)
    expect(await outcome(harness.send('user', 'GET', '/users'))).toEqual(forbidden)
    const bad = await outcome(harness.send('admin', 'GET', '/users?per_page=0'))
    expect(bad).toEqual({ status: 400, body: { error: 'per_page does not have a valid value' } })
  })
})

describe('GET /users/:id', () => {
  it('hides the address from other users', async () => {
    const { status, body } = await outcome(harness.send('user', 'GET', `/users/${harness.users.owner.id}`))
    expect({ status, name: body?.username }).toEqual({ status: 200, name: 'Owner' })
    expect(body).not.toHaveProperty('email')
    expect(body).not.toHaveProperty('is_admin')
  })

  it('refuses anonymous callers, unknown ids and invalid ids', async () => {
    expect(await outcome(harness.send('guest', 'GET', '/users/1'))).toEqual(unauthorized)
    const missing = { status: 404, body: { message: '404 User Not Found' } }
    expect(await outcome(harness.send('user', 'GET', '/users/2000000000'))).toEqual(missing)
    const invalid = { status: 400, body: { error: 'id is invalid' } }
    expect(await outcome(harness.send('user', 'GET', '/users/root'))).toEqual(invalid)
    expect(await outcome(harness.send('user', 'GET', '/users/99999999999'))).toEqual(invalid)
  })
})

describe('POST /users/:id/personal_access_tokens', () => {
  it('shows a working secret once and stores only its hash', async () => {
    const { id, token, secret } = await userWithToken(['api', 'read_metrics'], '2999-12-31')
    expect(secret).toMatch(/^glpat-[\w-]{20,}$/)
    expect(token).toMatchObject({
      name: 'ci',
      scopes: ['api', 'read_metrics'],
      user_id: id,
      revoked: false,
      active: true,
      expires_at: '2999-12-31',
    })
    const self = await outcome(harness.send(secret, 'GET', '/personal_access_tokens/self'))
    const { token: _secret, last_used_at: _used, ...rest } = token
    expect(self.body).toMatchObject(rest)
    expect(self.body).not.toHaveProperty('token')
    const { rows } = await harness.database.pool.query(
      'SELECT t::text AS row FROM personal_access_tokens t WHERE t::text LIKE $1',
      [`%${secret}%`],
    )
    expect(rows).toEqual([])
  })

  it('accepts scopes from a form and with commas', async () => {
    const path = `/users/${harness.users.user.id}/personal_access_tokens`
    for (const body of ['name=x&scopes[]=api&scopes[]=read_api', 'name=x&scopes=api,read_api']) {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const made = await outcome(harness.send('admin', 'POST', path, { body, headers }))
      expect(made).toMatchObject({ status: 201, body: { scopes: ['api', 'read_api'], expires_at: null } })
    }
  })

  it.each([
    [{}, { error: 'name is missing, scopes is missing' }],
    [{ name: 'x', scopes: [] }, { error: 'scopes is empty' }],
    [{ name: 'x', scopes: ['sudo'] }, { error: 'scopes does not have a valid value' }],
    [{ name: 'x', scopes: { a: 1 } }, { error: 'scopes is invalid' }],
    [{ name: 'x', scopes: ['api'], expires_at: '2030-06-31' }, { error: 'expires_at is invalid' }],
    [{ name: 'x', scopes: ['api'], expires_at: 'soon' }, { error: 'expires_at is invalid' }],
    [
      { name: 'x', scopes: ['api'], expires_at: '2020-01-01' },
      { message: { expires_at: ['must be today or later'] } },
    ],
  ])('refuses %j', async (given, body) => {
    const path = `/users/${harness.users.user.id}/personal_access_tokens`
    expect(await outcome(harness.send('admin', 'POST', path, json(given)))).toEqual({ status: 400, body })
  })

  it('needs an administrator, and an existing user', async () => {
    const path = `/users/${harness.users.user.id}/personal_access_tokens`
    const given = json({ name: 'x', scopes: ['api'] })
    expect(await outcome(harness.send('guest', 'POST', path, given))).toEqual(unauthorized)
    expect(await outcome(harness.send('user', 'POST', path, given))).toEqual(forbidden)
    const missing = harness.send('admin', 'POST', '/users/2000000000/personal_access_tokens', given)
    expect(await outcome(missing)).toEqual({ status: 404, body: { message: '404 User Not Found' } })
  })
})

describe('/personal_access_tokens/self', () => {
  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
  ])('%s%s refuses guests and unknown tokens', async (method, suffix) => {
    const path = `/personal_access_tokens/self${suffix}`
    expect(await outcome(harness.send('guest', method, path))).toEqual(unauthorized)
    expect(await outcome(harness.send('unknown', method, path))).toEqual(unauthorized)
  })

  it('works for its holder with any scope, and deletion stops the token at once', async () => {
    const { secret } = await userWithToken(['read_sagas'])
    expect((await harness.send(secret, 'DELETE', '/personal_access_tokens/self')).status).toBe(204)
    const statusOfSelf = async () =>
      (await harness.send(secret, 'GET', '/personal_access_tokens/self')).status
    await holdsWithinASecond(async () => (await statusOfSelf()) === 401)
  })

  it('is refused by another instance within a second of the revocation', async () => {
    const other = await harness.start()
    const { secret } = await userWithToken()
    const elsewhere = () => harness.send(secret, 'GET', '/user', {}, other)
    expect((await elsewhere()).status).toBe(200)
    expect((await harness.send(secret, 'DELETE', '/personal_access_tokens/self')).status).toBe(204)
    await holdsWithinASecond(async () => (await elsewhere()).status !== 200)
    expect(await outcome(elsewhere())).toEqual(unauthorized)
  })

  it('rotates the token: the new secret works, the old one stops, name and scopes stay', async () => {
    const { secret, token } = await userWithToken(['api', 'read_sagas'])
    const rotated = await outcome(harness.send(secret, 'POST', '/personal_access_tokens/self/rotate'))
    expect(rotated).toMatchObject({
      status: 200,
      body: { name: 'ci', scopes: ['api', 'read_sagas'], expires_at: null, revoked: false },
    })
    expect(rotated.body?.id).not.toBe(token.id)
    expect((await harness.send(String(rotated.body?.token), 'GET', '/user')).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect((await harness.send(secret, 'GET', '/user')).status).toBe(401)
  })

  it('rotates once, however many requests arrive at the same time', async () => {
    const { secret } = await userWithToken(
      ['api'],
      new Date(Date.now() + 86_400_000).toISOString().slice(0, 10),
    )
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        outcome(harness.send(secret, 'POST', '/personal_access_tokens/self/rotate')),
      ),
    )
    const good = answers.filter(({ status }) => status === 200)
    expect(good).toHaveLength(1)
    expect(good[0]?.body?.expires_at).toBe(new Date(Date.now() + 86_400_000).toISOString().slice(0, 10))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3)
  })

  it('refuses an invalid last day', async () => {
    const { secret } = await userWithToken()
    const path = '/personal_access_tokens/self/rotate'
    expect(await outcome(harness.send(secret, 'POST', path, json({ expires_at: 'x' })))).toEqual({
      status: 400,
      body: { error: 'expires_at is invalid' },
    })
    expect((await harness.send(secret, 'GET', '/user')).status).toBe(200)
  })

  it('records when a token was used', async () => {
    const { secret } = await userWithToken()
    await harness.send(secret, 'GET', '/user')
    await expect
      .poll(async () => (await outcome(harness.send(secret, 'GET', '/personal_access_tokens/self'))).body)
      .toMatchObject({ last_used_at: expect.stringMatching(/Z$/) })
  })
})

describe('requests without an endpoint', () => {
  it('answers unknown routes and wrong verbs in the documented shape', async () => {
    expect(await outcome(harness.send('admin', 'GET', '/nothing'))).toEqual({
      status: 404,
      body: { error: '404 Not Found' },
    })
    const wrong = await harness.send('admin', 'PUT', '/users')
    expect(wrong.headers.get('Allow')).toContain('POST')
    expect(await outcome(wrong)).toEqual({ status: 405, body: { error: '405 Not Allowed' } })
  })

  it('refuses malformed JSON, file parts, oversize bodies and unknown types', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const malformed = harness.send('admin', 'POST', '/users', { body: '{"name":', headers })
    expect(await outcome(malformed)).toEqual({ status: 400, body: { error: 'the body is not valid JSON' } })

    const parts = new FormData()
    parts.set('name', new Blob(['x']), 'x.txt')
    const file = harness.send('admin', 'POST', '/users', { body: parts })
    expect(await outcome(file)).toEqual({ status: 400, body: { error: 'file parts are not accepted' } })

    const large = harness.send('admin', 'POST', '/users', json({ name: 'x'.repeat(1024 * 1024) }))
    expect(await outcome(large)).toMatchObject({ status: 413 })

    const xml = harness.send('admin', 'POST', '/users', {
      body: '<a/>',
      headers: { 'Content-Type': 'text/xml' },
    })
    expect((await outcome(xml)).status).toBe(415)
  })

  it('treats a JSON body that is not an object as empty', async () => {
    expect(await outcome(harness.send('admin', 'POST', '/users', json(['x'])))).toEqual({
      status: 400,
      body: { error: 'email is missing, username is missing, name is missing' },
    })
  })
})
