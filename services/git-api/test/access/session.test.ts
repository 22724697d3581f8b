import { createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { form, type Harness, json, outcome, startHarness } from '../harness.js'
import { cookieOf, openBrowser, own } from './session-browser.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const { api, send, post, signIn, userOf, storedSessions } = openBrowser(() => harness)
const nobody = { status: 200, body: { user: null, scopes: [] } }
const unauthorized = { status: 401, body: { message: '401 Unauthorized' } }

describe('POST /session', () => {
  it('begins a session with the user and the scopes of the token, in a cookie that scripts cannot read', async () => {
    const { secret } = await createToken(harness.database, harness.users.admin, {
      scopes: ['read_api', 'read_sagas'],
    })
    const response = await post(secret)
    const { id, username, name } = harness.users.admin
    expect(await outcome(response.clone())).toEqual({
      status: 201,
      body: {
        user: { id, username, name, is_admin: true },
        scopes: ['read_api', 'read_sagas'],
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    })
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^switchyard_session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
      ),
    ])
    const shown = await send('GET', '/session', { Cookie: cookieOf(response) })
    expect(shown.headers.get('Cache-Control')).toBe('no-store')
    expect(await shown.json()).toEqual(await response.json())
  })

  it('is Secure and bound to its host where clients use https, and accepts no cookie of another name there', async () => {
    const base = await harness.start({ EXTERNAL_URL: 'https://switchyard.example.com' })
    const response = await post(harness.tokens.user, own, base)
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-switchyard_session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$/,
      ),
    ])
    const cookie = cookieOf(response)
    expect((await send('GET', '/user', { Cookie: cookie }, base)).status).toBe(200)
    const planted = cookie.replace('__Host-', '')
    expect((await send('GET', '/user', { Cookie: planted }, base)).status).toBe(401)
  })

  it('stores only the SHA-256 of the cookie', async () => {
    const cookie = await signIn(harness.tokens.user)
    const value = cookie.split('=')[1] ?? ''
    const stored = (await storedSessions()).at(-1)
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value))
    expect(Buffer.from(stored?.secretHash ?? [])).toEqual(Buffer.from(hash))
    expect(JSON.stringify(stored)).not.toContain(value)
  })

  it('refuses a token that does not work, and a token of a blocked user', async () => {
    const blocked = await createUser(harness.database, { state: 'blocked' })
    for (const secret of ['glpat-unknown', await harness.secretOf(blocked)]) {
      const response = await post(secret)
      expect(response.headers.getSetCookie()).toEqual([])
      expect(response.headers.get('Cache-Control')).toBe('no-store')
      expect(await outcome(response)).toEqual(unauthorized)
    }
  })

  it('refuses a deploy token, and accepts a project token, which stays within its project', async () => {
    const given = json({ path: 'session-tokens', initialize_with_readme: true })
    const project = (await (await harness.send('owner', 'POST', '/projects', given)).json()) as { id: number }
    const other = json({ path: 'session-others', initialize_with_readme: true })
    const { id: otherId } = (await (await harness.send('owner', 'POST', '/projects', other)).json()) as {
      id: number
    }
    const make = async (kind: string, body: object) =>
      (
        (await (
          await harness.send('owner', 'POST', `/projects/${project.id}/${kind}`, json(body))
        ).json()) as {
          token: string
        }
      ).token
    const deploy = await make('deploy_tokens', { name: 'd', scopes: ['read_repository'] })
    expect(await outcome(post(deploy))).toEqual({
      status: 403,
      body: { message: '403 Forbidden - A deploy token cannot sign in' },
    })
    const bot = await make('access_tokens', { name: 'b', scopes: ['api'], access_level: 40 })
    const cookie = await signIn(bot)
    expect((await send('GET', `/projects/${project.id}/members`, { Cookie: cookie })).status).toBe(200)
    expect((await send('GET', `/projects/${otherId}/members`, { Cookie: cookie })).status).toBe(404)
  })

  it('accepts the token only in a JSON body', async () => {
    const { user } = harness.tokens
    const inQuery = api(`/session?token=${user}`, { method: 'POST', headers: own })
    expect(await outcome(inQuery)).toEqual({ status: 400, body: { error: 'token is missing' } })
    const asForm = api('/session', { method: 'POST', headers: own, ...form({ token: user }) })
    expect((await asForm).status).toBe(415)
    const asText = { ...own, 'Content-Type': 'text/plain' }
    expect((await post(user, asText)).status).toBe(415)
    const withoutType = {
      method: 'POST',
      headers: own,
      body: new Uint8Array(Buffer.from(`{"token":"${user}"}`)),
    }
    expect((await api('/session', withoutType)).status).toBe(415)
    for (const bad of ['', '  ', undefined, { a: 1 }, ['x']]) expect((await post(bad)).status).toBe(400)
  })

  it('replaces the former session of the browser', async () => {
    const first = await signIn(harness.tokens.user)
    const second = cookieOf(await post(harness.tokens.owner, { ...own, Cookie: first }))
    expect([await userOf(first), await userOf(second)]).toEqual([401, 200])
  })

  it('counts failed sign-ins of an address together with unknown tokens', async () => {
    const base = await harness.start({ RATE_LIMIT_PER_MINUTE: '6000' })
    const statuses: number[] = []
    for (let tries = 0; tries < 61; tries++) statuses.push((await post(`glpat-${tries}`, own, base)).status)
    expect(new Set(statuses.slice(0, 60))).toEqual(new Set([401]))
    const refused = await post('glpat-60', own, base)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/)
  })

  it('ends the oldest sessions of a token that has more than a hundred', async () => {
    const { secret, token } = await createToken(harness.database, harness.users.user)
    const first = await signIn(secret)
    for (let more = 0; more < 100; more++) await signIn(secret)
    expect(await harness.database.prisma.session.count({ where: { tokenId: token.id } })).toBe(100)
    expect(await userOf(first)).toBe(401)
  })
})

describe('a session', () => {
  it('authenticates requests with the scopes of its token', async () => {
    const cookie = await signIn(harness.tokens.ownerReading)
    expect(await userOf(cookie)).toBe(200)
    const headers = { Cookie: cookie, ...own, 'Content-Type': 'application/json' }
    const refused = await api('/projects', { method: 'POST', headers, body: '{"path":"refused"}' })
    expect(await outcome(refused)).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
  })

  it('is ignored beside a token in a header', async () => {
    const cookie = await signIn(harness.tokens.admin)
    const asUser = await send('GET', '/user', { Cookie: cookie, 'PRIVATE-TOKEN': harness.tokens.user })
    expect(await asUser.json()).toMatchObject({ username: 'ordinary' })
    const wrong = { Cookie: cookie, Authorization: 'Bearer glpat-unknown' }
    expect((await send('GET', '/user', wrong)).status).toBe(401)
    const shown = send('GET', '/session', { Cookie: cookie, 'PRIVATE-TOKEN': harness.tokens.user })
    expect(await outcome(shown)).toEqual(nobody)
    const fromElsewhere = {
      'PRIVATE-TOKEN': harness.tokens.user,
      Cookie: cookie,
      'Sec-Fetch-Site': 'cross-site',
    }
    expect((await send('POST', '/projects', fromElsewhere)).status).toBe(400)
  })

  it('has a secret that is not a token, and a token is not a session', async () => {
    const cookie = await signIn(harness.tokens.admin)
    const value = cookie.split('=')[1] ?? ''
    expect((await send('GET', '/user', { 'PRIVATE-TOKEN': value })).status).toBe(401)
    expect(await userOf(`switchyard_session=${harness.tokens.admin}`)).toBe(401)
  })

  it('is not accepted by git', async () => {
    const given = json({ path: 'session-git', initialize_with_readme: true })
    expect((await harness.send('owner', 'POST', '/projects', given)).status).toBe(201)
    const headers = { Cookie: await signIn(harness.tokens.owner), ...own }
    const git = (path: string, init: RequestInit = {}) =>
      fetch(`${harness.baseUrl}/Owner/session-git.git/${path}`, { headers, ...init })
    expect((await git('info/refs?service=git-upload-pack')).status).toBe(401)
    const batch = { method: 'POST', body: JSON.stringify({ operation: 'download', objects: [] }) }
    expect((await git('info/lfs/objects/batch', batch)).status).toBe(401)
  })

  it('that does not work counts as missing, and GET /session deletes its cookie', async () => {
    const dead = `switchyard_session=${'x'.repeat(43)}`
    expect(await userOf(dead)).toBe(401)
    const shown = await send('GET', '/session', { Cookie: dead })
    expect(shown.headers.getSetCookie()).toEqual([
      expect.stringContaining('switchyard_session=; Path=/; Expires=Thu, 01 Jan 1970'),
    ])
    expect(await outcome(shown)).toEqual(nobody)
    expect((await send('GET', '/openapi.json', { Cookie: dead })).status).toBe(200)
    const without = await send('GET', '/session', {})
    expect(without.headers.getSetCookie()).toEqual([])
    expect(await outcome(without)).toEqual(nobody)
  })

  it('records the use of its token', async () => {
    const { secret, token } = await createToken(harness.database, harness.users.user)
    const cookie = await signIn(secret)
    const { prisma } = harness.database
    const longAgo = new Date('2001-01-01')
    await prisma.personalAccessToken.update({ where: { id: token.id }, data: { lastUsedAt: longAgo } })
    await prisma.session.updateMany({
      where: { tokenId: token.id },
      data: { lastUsedAt: longAgo, idleUntil: new Date(Date.now() + 60_000) },
    })
    expect(await userOf(cookie)).toBe(200)
    await expect
      .poll(
        async () =>
          (await prisma.personalAccessToken.findUniqueOrThrow({ where: { id: token.id } })).lastUsedAt,
      )
      .not.toEqual(longAgo)
    await expect
      .poll(async () =>
        (await prisma.session.findFirstOrThrow({ where: { tokenId: token.id } })).idleUntil.getTime(),
      )
      .toBeGreaterThan(Date.now() + 11 * 3_600_000)
  })
})

describe('the end of a session', () => {
  const ends: Record<string, (token: { id: number; userId: number }) => Promise<unknown>> = {
    'its token is revoked': (token) => harness.send('admin', 'DELETE', `/personal_access_tokens/${token.id}`),
    'its token is replaced': (token) =>
      harness.send('admin', 'POST', `/personal_access_tokens/${token.id}/rotate`),
    'its token expires': ({ id }) =>
      harness.database.prisma.personalAccessToken.update({
        where: { id },
        data: { expiresAt: new Date('2020-01-01') },
      }),
    'its user is blocked': ({ userId }) => harness.send('admin', 'POST', `/users/${userId}/block`),
    'it was not used for long': ({ id }) =>
      harness.database.prisma.session.updateMany({
        where: { tokenId: id },
        data: { idleUntil: new Date(Date.now() - 1) },
      }),
    'its token is deleted': ({ id }) => harness.database.prisma.personalAccessToken.delete({ where: { id } }),
  }

  it.each(Object.keys(ends))('happens when %s', async (cause) => {
    const { secret, token } = await createToken(harness.database, await createUser(harness.database))
    const cookie = await signIn(secret)
    expect(await userOf(cookie)).toBe(200)
    await ends[cause]?.(token)
    expect(await userOf(cookie)).toBe(401)
    expect(await outcome(send('GET', '/session', { Cookie: cookie }))).toEqual(nobody)
  })

  it('does not happen again when the user is unblocked', async () => {
    const user = await createUser(harness.database)
    const cookie = await signIn(await harness.secretOf(user))
    await harness.send('admin', 'POST', `/users/${user.id}/block`)
    await harness.send('admin', 'POST', `/users/${user.id}/unblock`)
    expect(await userOf(cookie)).toBe(401)
  })

  it('is never after the last day of the token, and never after the longest lifetime', async () => {
    const today = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000)
    const { secret } = await createToken(harness.database, harness.users.user, { expiresAt: today })
    const { expires_at: untilToken } = (await (await post(secret)).json()) as { expires_at: string }
    expect(untilToken).toBe(new Date(today.getTime() + 86_400_000).toISOString())
    const base = await harness.start({
      SESSION_LIFETIME_SECONDS_MAX: '600',
      SESSION_IDLE_SECONDS_MAX: '1200',
    })
    const begunMs = Date.now()
    const { expires_at: untilLongest } = (await (await post(harness.tokens.user, own, base)).json()) as {
      expires_at: string
    }
    expect(Math.abs(Date.parse(untilLongest) - begunMs - 600_000)).toBeLessThan(60_000)
    const stored = (await storedSessions()).at(-1)
    expect(stored?.idleUntil).toEqual(stored?.expiresAt)
  })

  it('follows DELETE /session: from then on, the cookie is invalid in every process', async () => {
    const elsewhere = await harness.start()
    const cookie = await signIn(harness.tokens.user)
    const here = { Cookie: cookie }
    expect((await send('GET', '/user', here, elsewhere)).status).toBe(200)
    const ended = await send('DELETE', '/session', { ...here, ...own })
    expect([ended.status, ended.headers.get('Cache-Control')]).toEqual([204, 'no-store'])
    expect(ended.headers.getSetCookie()).toEqual([expect.stringContaining('switchyard_session=;')])
    expect((await send('GET', '/user', here, elsewhere)).status).toBe(401)
    expect((await send('GET', '/user', here)).status).toBe(401)
    expect((await send('DELETE', '/session', { ...here, ...own })).status).toBe(204)
  })

  it('is recorded in the audit log like the beginning', async () => {
    const user = await createUser(harness.database)
    const { secret, token } = await createToken(harness.database, user)
    const cookie = await signIn(secret)
    await send('DELETE', '/session', { Cookie: cookie, ...own })
    const events = await outcome(
      harness.send('admin', 'GET', `/audit_events?entity_type=User&entity_id=${user.id}`),
    )
    const entry = { author_id: user.id, details: { token_id: token.id, session_id: expect.any(Number) } }
    expect(events.body).toMatchObject([
      { ...entry, event_name: 'user_signed_out' },
      { ...entry, event_name: 'user_signed_in' },
    ])
    expect(JSON.stringify(events.body)).not.toContain(cookie.split('=')[1])
  })
})
