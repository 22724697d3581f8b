import { dayMs } from '@switchyard/domain'
import { createToken, createUser, holdsWithinASecond } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const unauthorized = { status: 401, body: { message: '401 Unauthorized' } }
const forbidden = { status: 403, body: { message: '403 Forbidden' } }
const noRow = { status: 404, body: { message: '404 Not found' } }
const tokens = (suffix = '') => `/personal_access_tokens${suffix}`
const rotate = '/personal_access_tokens/self/rotate'
const works = async (secret: string) => (await harness.send(secret, 'GET', tokens('/self'))).status === 200

/** Returns the date that many days from today. */
const dayIn = (days: number) => new Date(Math.floor(Date.now() / dayMs) * dayMs + days * dayMs)
const textIn = (days: number) => dayIn(days).toISOString().slice(0, 10)

const namesOf = (body: unknown) => (body as { name: string }[]).map(({ name }) => name)

describe('POST /personal_access_tokens/self/rotate', () => {
  it.each([['read_api'], ['write_repository'], ['read_metrics'], ['read_sagas'], ['saga_report']] as const)(
    'refuses a token that has %s only, which goes on working',
    async (scope) => {
      const secret = await harness.secretOf(harness.users.user, [scope])
      expect(
        await outcome(harness.send(secret, 'POST', rotate, json({ expires_at: textIn(1) }))),
      ).toMatchObject({
        status: 403,
        body: { error: 'insufficient_scope', scope: 'api self_rotate' },
      })
      expect(await works(secret)).toBe(true)
    },
  )

  it('accepts the scope self_rotate, and keeps the scopes', async () => {
    const secret = await harness.secretOf(harness.users.user, ['read_sagas', 'self_rotate'])
    const rotated = await outcome(harness.send(secret, 'POST', rotate, json({ scopes: ['api'] })))
    expect(rotated).toMatchObject({ status: 200, body: { scopes: ['read_sagas', 'self_rotate'] } })
    expect(await works(String(rotated.body?.token))).toBe(true)
  })

  it('gives no more days than the old token had, and by default the same number', async () => {
    const given = { expiresAt: dayIn(10) }
    const { secret } = await createToken(harness.database, harness.users.user, given)
    expect(await outcome(harness.send(secret, 'POST', rotate, json({ expires_at: '2126-01-01' })))).toEqual({
      status: 400,
      body: { message: { expires_at: [`must be ${textIn(10)} or earlier`] } },
    })
    expect(await works(secret)).toBe(true)
    const shorter = await outcome(harness.send(secret, 'POST', rotate, json({ expires_at: textIn(5) })))
    expect(shorter).toMatchObject({ status: 200, body: { expires_at: textIn(5) } })
    const again = json({ expires_at: textIn(6) })
    expect((await harness.send(String(shorter.body?.token), 'POST', rotate, again)).status).toBe(400)
    const same = await outcome(harness.send(String(shorter.body?.token), 'POST', rotate))
    expect(same).toMatchObject({ status: 200, body: { expires_at: textIn(5) } })
  })

  it('refuses the old token at once, however recently it was used', async () => {
    const secret = await harness.secretOf(harness.users.user)
    expect(await works(secret)).toBe(true)
    expect((await harness.send(secret, 'POST', rotate)).status).toBe(200)
    expect(await works(secret)).toBe(false)
  })
})

describe('GET /personal_access_tokens', () => {
  const list = async (who: string, query: string) => outcome(harness.send(who, 'GET', tokens(`?${query}`)))

  it('filters by user, name, state and times, in the requested order', async () => {
    const user = await createUser(harness.database)
    const make = (name: string, given: object = {}) => createToken(harness.database, user, { name, ...given })
    await make('alpha', { expiresAt: dayIn(3) })
    await make('beta', { revokedAt: new Date() })
    await make('gamma', { expiresAt: dayIn(-1) })
    const delta = await make('delta')
    await harness.send(delta.secret, 'GET', '/user')
    await expect
      .poll(async () => (await list('admin', `user_id=${user.id}&last_used_after=2020-01-01`)).body)
      .toMatchObject([{ name: 'delta' }])

    const found = async (query: string) => namesOf((await list('admin', `user_id=${user.id}&${query}`)).body)
    expect(await found('')).toEqual(['delta', 'gamma', 'beta', 'alpha'])
    expect(await found('state=active&sort=name_asc')).toEqual(['alpha', 'delta'])
    expect(await found('state=inactive&sort=name_asc')).toEqual(['beta', 'gamma'])
    expect(await found('revoked=true')).toEqual(['beta'])
    expect(await found('revoked=false&sort=name_desc')).toEqual(['gamma', 'delta', 'alpha'])
    expect(await found('search=ET')).toEqual(['beta'])
    expect(await found(`expires_before=${textIn(0)}`)).toEqual(['gamma'])
    expect(await found(`expires_after=${textIn(0)}`)).toEqual(['alpha'])
    expect(await found('sort=expires_asc')).toEqual(['gamma', 'alpha', 'beta', 'delta'])
    expect(await found('created_before=2020-01-01')).toEqual([])
    expect(await found('created_after=2020-01-01&sort=created_asc&per_page=1')).toEqual(['alpha'])
    expect(await found('search=&state=&sort=&user_id_=')).toHaveLength(4)
  })

  it('shows administrators the tokens of everybody, without secrets', async () => {
    const { status, body } = await list('admin', 'per_page=100')
    expect(status).toBe(200)
    const owners = new Set((body as unknown as { user_id: number }[]).map(({ user_id }) => user_id))
    expect(owners.has(harness.users.owner.id) && owners.has(harness.users.user.id)).toBe(true)
    expect(body).not.toHaveProperty('0.token')
    expect(body).not.toHaveProperty('0.token_hash')
  })

  it('shows other users their own tokens, also to a read-only token', async () => {
    for (const who of ['owner', 'ownerReading']) {
      const { status, body } = await list(who, '')
      expect(status).toBe(200)
      expect(new Set((body as unknown as { user_id: number }[]).map(({ user_id }) => user_id))).toEqual(
        new Set([harness.users.owner.id]),
      )
    }
    expect((await list('owner', `user_id=${harness.users.owner.id}`)).status).toBe(200)
    expect(await list('owner', `user_id=${harness.users.admin.id}`)).toEqual(forbidden)
    expect(await list('owner', 'user_id=2000000000')).toEqual(forbidden)
  })

  it('refuses anonymous callers, tokens without scope, unknown users and bad input', async () => {
    expect(await list('guest', '')).toEqual(unauthorized)
    expect((await list('ownerRepository', '')).status).toBe(403)
    expect((await list('admin', 'user_id=2000000000')).status).toBe(404)
    for (const [query, error] of [
      ['state=gone', 'state does not have a valid value'],
      ['sort=name', 'sort does not have a valid value'],
      ['expires_before=soon', 'expires_before is invalid'],
      ['created_after=soon', 'created_after is invalid'],
      ['revoked=perhaps', 'revoked is invalid'],
      ['user_id=me', 'user_id is invalid'],
    ]) {
      expect(await list('admin', query ?? '')).toEqual({ status: 400, body: { error } })
    }
  })
})

describe('/personal_access_tokens/:id', () => {
  const endpoints = [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
  ] as const

  it.each(endpoints)('%s%s hides the tokens of others, and requires a number', async (method, suffix) => {
    const { token, secret } = await createToken(harness.database, harness.users.owner)
    const ask = (who: string, id: number | string) =>
      outcome(harness.send(who, method, tokens(`/${id}${suffix}`)))
    expect(await ask('guest', token.id)).toEqual(unauthorized)
    expect(await ask('unknown', token.id)).toEqual(unauthorized)
    expect(await ask('user', token.id)).toEqual(noRow)
    expect(await ask('user', 2_000_000_000)).toEqual(noRow)
    expect(await ask('admin', 2_000_000_000)).toEqual(noRow)
    expect((await ask('ownerRepository', token.id)).status).toBe(403)
    if (method !== 'GET') expect((await ask('ownerReading', token.id)).status).toBe(403)
    expect(await ask('admin', 'x')).toEqual({ status: 400, body: { error: 'id is invalid' } })
    expect(await works(secret)).toBe(true)
  })

  it('shows a token to its holder and to administrators', async () => {
    const { token } = await createToken(harness.database, harness.users.owner, { name: 'shown' })
    for (const who of ['owner', 'ownerReading', 'admin']) {
      const { status, body } = await outcome(harness.send(who, 'GET', tokens(`/${token.id}`)))
      expect({ status, name: body?.name, secret: body?.token }).toEqual({ status: 200, name: 'shown' })
    }
  })

  it.each(['owner', 'admin'])('ends a token at once when the %s revokes it, and once only', async (who) => {
    const { token, secret } = await createToken(harness.database, harness.users.owner, { name: 'ended' })
    expect(await works(secret)).toBe(true)
    expect((await harness.send(who, 'DELETE', tokens(`/${token.id}`))).status).toBe(204)
    expect(await works(secret)).toBe(false)
    expect((await harness.send(who, 'DELETE', tokens(`/${token.id}`))).status).toBe(204)
    const path = `/audit_events?event_name=access_token_revoked&entity_id=${harness.users.owner.id}`
    const { body } = await outcome<{ details: Record<string, unknown> }[]>(harness.send('admin', 'GET', path))
    const noted = body?.filter(({ details }) => details.revoked_token_id === token.id)
    expect(noted).toHaveLength(1)
  })

  it('replaces a token for administrators with any last day, and refuses a revoked one', async () => {
    const { token, secret } = await createToken(harness.database, harness.users.owner, {
      expiresAt: dayIn(2),
    })
    expect(await works(secret)).toBe(true)
    const path = tokens(`/${token.id}/rotate`)
    const rotated = await outcome(harness.send('admin', 'POST', path, json({ expires_at: textIn(30) })))
    expect(rotated).toMatchObject({
      status: 200,
      body: { user_id: harness.users.owner.id, expires_at: textIn(30) },
    })
    expect(await works(secret)).toBe(false)
    expect(await works(String(rotated.body?.token))).toBe(true)
    expect(await outcome(harness.send('admin', 'POST', path))).toEqual({
      status: 400,
      body: { message: '400 Bad request - Token already revoked' },
    })
    const past = tokens(`/${rotated.body?.id}/rotate`)
    expect(await outcome(harness.send('admin', 'POST', past, json({ expires_at: '2001-01-01' })))).toEqual({
      status: 400,
      body: { message: { expires_at: ['must be today or later'] } },
    })
  })

  it('replaces an own token within its days, unless it has a scope that the caller lacks', async () => {
    const { token } = await createToken(harness.database, harness.users.owner, { expiresAt: dayIn(2) })
    const path = tokens(`/${token.id}/rotate`)
    expect((await harness.send('owner', 'POST', path, json({ expires_at: textIn(3) }))).status).toBe(400)
    expect((await harness.send('owner', 'POST', path)).status).toBe(200)
    const metrics = await createToken(harness.database, harness.users.owner, { scopes: ['read_metrics'] })
    expect(await outcome(harness.send('owner', 'POST', tokens(`/${metrics.token.id}/rotate`)))).toMatchObject(
      {
        status: 403,
        body: { error: 'insufficient_scope', scope: 'read_metrics' },
      },
    )
    expect(await works(metrics.secret)).toBe(true)
  })
})

describe('tokens of a project', () => {
  async function projectToken(fields: object, who = 'owner', project?: number) {
    const path = `bound-${Math.random().toString(36).slice(2)}`
    const made =
      project ?? (await outcome(harness.send('owner', 'POST', '/projects', json({ path })))).body?.id
    const given = { name: 'pipeline', scopes: ['api'], access_level: 40, ...fields }
    const issued = await outcome(harness.send(who, 'POST', `/projects/${made}/access_tokens`, json(given)))
    return { project: Number(made), ...issued }
  }

  it('cannot create a token that outlives them', async () => {
    const first = await projectToken({ expires_at: textIn(7) })
    const secret = String(first.body?.token)
    expect(await projectToken({ expires_at: textIn(8) }, secret, first.project)).toMatchObject({
      status: 400,
      body: { message: { expires_at: [`must be ${textIn(7)} or earlier`] } },
    })
    expect(await projectToken({}, secret, first.project)).toMatchObject({
      status: 201,
      body: { expires_at: textIn(7) },
    })
    expect(await projectToken({ expires_at: textIn(2) }, secret, first.project)).toMatchObject({
      status: 201,
      body: { expires_at: textIn(2) },
    })
    expect((await harness.send(secret, 'POST', rotate, json({ expires_at: textIn(8) }))).status).toBe(400)
    expect(await outcome(harness.send(secret, 'POST', rotate))).toMatchObject({
      status: 200,
      body: { expires_at: textIn(7) },
    })
  })

  it('stop at once when an administrator revokes them, and their bot leaves the project', async () => {
    const { project, body } = await projectToken({})
    expect(await works(String(body?.token))).toBe(true)
    expect((await harness.send('admin', 'DELETE', tokens(`/${body?.id}`))).status).toBe(204)
    expect(await works(String(body?.token))).toBe(false)
    const members = await (await harness.send('owner', 'GET', `/projects/${project}/members`)).text()
    expect(members).not.toContain('pipeline')
  })

  it('stop at once when a maintainer deletes them', async () => {
    const { project, body } = await projectToken({})
    expect(await works(String(body?.token))).toBe(true)
    const path = `/projects/${project}/access_tokens/${body?.id}`
    expect((await harness.send('owner', 'DELETE', path)).status).toBe(204)
    expect(await works(String(body?.token))).toBe(false)
  })
})

it('a token stops at the end of its last day, in every instance', async () => {
  const { secret, token } = await createToken(harness.database, harness.users.user, { expiresAt: dayIn(0) })
  const other = await harness.start()
  const elsewhere = () => harness.send(secret, 'GET', '/user', {}, other)
  expect((await elsewhere()).status).toBe(200)
  expect(await works(secret)).toBe(true)
  // This has the effect of midnight.
  await harness.database.prisma.personalAccessToken.update({
    where: { id: token.id },
    data: { expiresAt: dayIn(-1) },
  })
  await holdsWithinASecond(async () => (await elsewhere()).status !== 200)
  await expect.poll(() => works(secret)).toBe(false)
})

describe('a token that is bound to tenants', () => {
  const create = (who: string, fields: object) =>
    outcome(
      harness.send(
        who,
        'POST',
        `/users/${harness.users.admin.id}/personal_access_tokens`,
        json({ name: 'bound', scopes: ['api'], ...fields }),
      ),
    )

  it('is created with a list or a text, shows its tenants, and keeps them when it is replaced', async () => {
    const made = await create('admin', { tenants: ['acme', ' globex ', 'acme'] })
    expect(made).toMatchObject({ status: 201, body: { tenants: ['acme', 'globex'] } })
    const secret = String(made.body?.token)
    const shown = await outcome(harness.send(secret, 'GET', tokens('/self')))
    expect(shown.body?.tenants).toEqual(['acme', 'globex'])
    const rotated = await outcome(harness.send(secret, 'POST', rotate))
    expect(rotated.body?.tenants).toEqual(['acme', 'globex'])
    expect((await create('admin', { tenants: 'a,b' })).body?.tenants).toEqual(['a', 'b'])
    expect((await create('admin', { tenants: '' })).body?.tenants).toBeNull()
    expect((await create('admin', {})).body?.tenants).toBeNull()
    const path = `/audit_events?event_name=personal_access_token_created&entity_id=${harness.users.admin.id}`
    const { body } = await outcome(harness.send('admin', 'GET', path))
    expect(body).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ details: expect.objectContaining({ tenants: ['acme', 'globex'] }) }),
      ]),
    )
  })

  it.each([
    [[], 'tenants is empty'],
    [['acme', ' '], 'tenants has a tenant that is empty or not printable'],
    [['a\u0007'], 'tenants has a tenant that is empty or not printable'],
    [['x'.repeat(129)], 'tenants has a tenant that is too long (maximum is 128 characters)'],
    [7, 'tenants is invalid'],
    [Array.from({ length: 101 }, String), 'tenants has more than 100 items'],
  ])('is not made with %j', async (tenants, error) => {
    expect(await create('admin', { tenants })).toEqual({ status: 400, body: { error } })
  })

  it('cannot give more tenants than it has, by creating or replacing tokens', async () => {
    const bound = String((await create('admin', { tenants: ['acme', 'globex'] })).body?.token)
    expect((await create(bound, {})).body?.tenants).toEqual(['acme', 'globex'])
    expect((await create(bound, { tenants: ['acme'] })).body?.tenants).toEqual(['acme'])
    expect((await create(bound, { tenants: ['acme', 'other'] })).status).toBe(403)
    const free = await create('admin', {})
    const replace = (who: string, id: unknown) => outcome(harness.send(who, 'POST', tokens(`/${id}/rotate`)))
    expect((await replace(bound, free.body?.id)).status).toBe(403)
    const other = await create('admin', { tenants: ['other'] })
    expect((await replace(bound, other.body?.id)).status).toBe(403)
    const part = await create('admin', { tenants: ['globex'] })
    expect(await replace(bound, part.body?.id)).toMatchObject({ status: 200, body: { tenants: ['globex'] } })
  })
})
