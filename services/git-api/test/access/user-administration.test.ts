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
const noUser = { status: 404, body: { message: '404 User Not Found' } }
const lastAdministrator = {
  status: 403,
  body: { message: '403 Forbidden - The last active administrator cannot be blocked or lose these rights' },
}

const put = (who: string, id: number | string, fields: object) =>
  outcome(harness.send(who, 'PUT', `/users/${id}`, json(fields)))
const setState = (who: string, id: number | string, verb: 'block' | 'unblock') =>
  outcome(harness.send(who, 'POST', `/users/${id}/${verb}`))
const statusOf = async (secret: string, base?: string) =>
  (await harness.send(secret, 'GET', '/user', {}, base)).status

async function personWithToken(given: Parameters<typeof createUser>[1] = {}) {
  const user = await createUser(harness.database, given)
  return { ...user, secret: await harness.secretOf(user) }
}

const eventsOf = async (id: number) => {
  const { body } = await outcome<{ event_name: string; details: Record<string, unknown> }[]>(
    harness.send('admin', 'GET', `/audit_events?entity_type=User&entity_id=${id}`),
  )
  return body ?? []
}

describe('PUT /users/:id', () => {
  it('changes the given fields, and records it', async () => {
    const { id, secret } = await personWithToken()
    expect(await put('admin', id, { name: 'Ada', email: 'Ada@Example.com' })).toMatchObject({
      status: 200,
      body: { id, name: 'Ada', email: 'Ada@Example.com', is_admin: false },
    })
    expect((await outcome(harness.send(secret, 'GET', '/user'))).body).toMatchObject({ name: 'Ada' })
    expect(await put('admin', id, { name: 'Ada' })).toMatchObject({ status: 200 })
    const events = await eventsOf(id)
    expect(events).toMatchObject([{ event_name: 'user_updated', details: { changed: ['email', 'name'] } }])
  })

  it('grants and revokes the rights of an administrator at once', async () => {
    const { id, secret } = await personWithToken()
    expect(await put('admin', id, { admin: true })).toMatchObject({ body: { is_admin: true } })
    expect((await harness.send(secret, 'GET', '/users')).status).toBe(200)
    expect(await put('admin', id, { admin: 'false' })).toMatchObject({ body: { is_admin: false } })
    expect((await harness.send(secret, 'GET', '/users')).status).toBe(403)
  })

  it('moves the projects of a user with the username', async () => {
    const { id, secret } = await personWithToken({ username: 'before' })
    const given = json({ path: 'Engine', initialize_with_readme: true })
    const project = await outcome(harness.send(secret, 'POST', '/projects', given))
    expect(await put('admin', id, { username: 'After' })).toMatchObject({ body: { username: 'After' } })
    const found = await outcome(harness.send(secret, 'GET', '/projects/after%2Fengine'))
    expect(found.body).toMatchObject({ id: project.body?.id, path_with_namespace: 'After/Engine' })
    const commits = await harness.send(secret, 'GET', '/projects/After%2FEngine/repository/commits')
    expect(commits.status).toBe(200)
    expect((await harness.send(secret, 'GET', '/projects/before%2FEngine')).status).toBe(404)
  })

  it('refuses taken names, invalid values, and unknown users', async () => {
    const { id, username, email } = await personWithToken()
    const taken = (field: string) => ({ status: 409, body: { message: `${field} has already been taken` } })
    expect(await put('admin', id, { username: 'OWNER' })).toEqual(taken('Username'))
    expect(await put('admin', id, { email: 'owner@example.com' })).toEqual(taken('Email'))
    expect(await put('admin', id, { username: 'api' })).toMatchObject({
      status: 400,
      body: { message: { username: ['is a reserved name'] } },
    })
    expect(await put('admin', id, { email: 'nobody' })).toMatchObject({ status: 400 })
    expect(await put('admin', id, { admin: 'perhaps' })).toEqual({
      status: 400,
      body: { error: 'admin is invalid' },
    })
    expect(await put('admin', 2_000_000_000, { name: 'x' })).toEqual(noUser)
    expect((await outcome(harness.send('admin', 'GET', `/users/${id}`))).body).toMatchObject({
      username,
      email,
    })
  })

  it('keeps the name of root and the rights of bots', async () => {
    const { body } = await outcome<{ id: number }[]>(harness.send('admin', 'GET', '/users?username=root'))
    const root = Number(body?.[0]?.id)
    expect(await put('admin', root, { username: 'chief' })).toEqual({
      status: 400,
      body: { message: { username: ['of the first administrator cannot be changed'] } },
    })
    expect(await put('admin', root, { name: 'Chief', username: 'root' })).toMatchObject({ status: 200 })
    const project = await outcome(harness.send('owner', 'POST', '/projects', json({ path: 'with-bot' })))
    const token = json({ name: 'bot', scopes: ['api'], access_level: 40 })
    const path = `/projects/${project.body?.id}/access_tokens`
    const issued = await outcome(harness.send('owner', 'POST', path, token))
    expect(await put('admin', Number(issued.body?.user_id), { admin: true })).toEqual({
      status: 400,
      body: { message: { admin: ['cannot be given to a project token'] } },
    })
  })
})

describe.each([
  ['PUT', ''],
  ['POST', '/block'],
  ['POST', '/unblock'],
])('%s /users/:id%s', (method, suffix) => {
  it('needs an administrator with the scope api, and an existing user', async () => {
    const ask = (who: string, id: number | string = harness.users.owner.id) =>
      outcome(harness.send(who, method, `/users/${id}${suffix}`))
    expect(await ask('guest')).toEqual(unauthorized)
    expect(await ask('unknown')).toEqual(unauthorized)
    expect(await ask('user')).toEqual(forbidden)
    expect(await ask('owner')).toEqual(forbidden)
    expect((await ask(await harness.secretOf(harness.users.admin, ['read_api']))).status).toBe(403)
    expect(await ask('admin', 2_000_000_000)).toEqual(noUser)
    expect(await ask('admin', 'x')).toEqual({ status: 400, body: { error: 'id is invalid' } })
  })
})

describe('POST /users/:id/block', () => {
  it('stops every token at once, until the user is unblocked', async () => {
    const { id, secret } = await personWithToken()
    expect(await statusOf(secret)).toBe(200)
    expect(await setState('admin', id, 'block')).toEqual({ status: 201, body: true })
    expect(await statusOf(secret)).toBe(401)
    expect((await outcome(harness.send('admin', 'GET', `/users/${id}`))).body).toMatchObject({
      state: 'blocked',
    })
    expect(await setState('admin', id, 'block')).toEqual({ status: 201, body: true })
    expect(await setState('admin', id, 'unblock')).toEqual({ status: 201, body: true })
    await expect.poll(() => statusOf(secret)).toBe(200)
    expect((await eventsOf(id)).map(({ event_name }) => event_name)).toEqual([
      'user_unblocked',
      'user_blocked',
    ])
  })

  it('takes effect in another instance within a second', async () => {
    const other = await harness.start()
    const { id, secret } = await personWithToken()
    expect(await statusOf(secret, other)).toBe(200)
    expect((await setState('admin', id, 'block')).status).toBe(201)
    await holdsWithinASecond(async () => (await statusOf(secret, other)) !== 200)
    expect(await statusOf(secret, other)).toBe(401)
  })

  it('stops git over HTTP with the token as a password', async () => {
    const { id, username, secret } = await personWithToken()
    await harness.send(secret, 'POST', '/projects', json({ path: 'cloned', initialize_with_readme: true }))
    const clone = async (service: string) => {
      const url = `${harness.baseUrl}/${username}/cloned.git/info/refs?service=${service}`
      const authorization = `Basic ${Buffer.from(`any:${secret}`).toString('base64')}`
      const response = await fetch(url, { headers: { authorization } })
      await response.arrayBuffer()
      return response.status
    }
    expect([await clone('git-upload-pack'), await clone('git-receive-pack')]).toEqual([200, 200])
    await setState('admin', id, 'block')
    expect([await clone('git-upload-pack'), await clone('git-receive-pack')]).toEqual([401, 401])
  })

  it('stops the project tokens that the user created, and those that such a token created', async () => {
    const maker = await personWithToken()
    const projectOf = await outcome(harness.send('owner', 'POST', '/projects', json({ path: 'made-by' })))
    const project = Number(projectOf.body?.id)
    await harness.send(
      'owner',
      'POST',
      `/projects/${project}/members`,
      json({ user_id: maker.id, access_level: 40 }),
    )
    const make = async (who: string) => {
      const given = json({ name: 'made', scopes: ['api'], access_level: 40 })
      const { body } = await outcome(harness.send(who, 'POST', `/projects/${project}/access_tokens`, given))
      return String(body?.token)
    }
    const made = await make(maker.secret)
    const secrets = { made, byToken: await make(made), ofOwner: await make('owner') }
    const rotated = await outcome(
      harness.send(secrets.byToken, 'POST', '/personal_access_tokens/self/rotate'),
    )
    secrets.byToken = String(rotated.body?.token)
    const statuses = async () => Promise.all(Object.values(secrets).map((secret) => statusOf(secret)))
    expect(await statuses()).toEqual([200, 200, 200])
    await setState('admin', maker.id, 'block')
    expect(await statuses()).toEqual([401, 401, 200])
    await setState('admin', maker.id, 'unblock')
    await expect.poll(statuses).toEqual([200, 200, 200])
  })

  it('stops project tokens without a recorded creator with the owner of the project', async () => {
    const owner = await personWithToken()
    const project = await outcome(harness.send(owner.secret, 'POST', '/projects', json({ path: 'older' })))
    const bot = await createUser(harness.database)
    const given = { projectId: Number(project.body?.id) }
    const { secret } = await createToken(harness.database, bot, given)
    expect(await statusOf(secret)).toBe(200)
    await setState('admin', owner.id, 'block')
    expect(await statusOf(secret)).toBe(401)
  })

  it('is not possible for oneself', async () => {
    expect(await setState('admin', harness.users.admin.id, 'block')).toEqual({
      status: 403,
      body: { message: '403 Forbidden - The API initiating user cannot be blocked by the API' },
    })
    expect(await statusOf(harness.tokens.admin)).toBe(200)
  })
})

describe('GET /users', () => {
  it('filters active and blocked users, in the requested order', async () => {
    const names = ['zoe-order', 'abe-order', 'kim-order']
    const people = []
    for (const username of names) people.push(await personWithToken({ username }))
    await setState('admin', people[2]?.id ?? 0, 'block')
    const found = async (query: string) => {
      const { body } = await outcome<{ username: string }[]>(
        harness.send('admin', 'GET', `/users?search=-order&${query}`),
      )
      return body?.map(({ username }) => username.slice(0, 3))
    }
    expect(await found('')).toEqual(['kim', 'abe', 'zoe'])
    expect(await found('active=true')).toEqual(['abe', 'zoe'])
    expect(await found('blocked=true')).toEqual(['kim'])
    expect(await found('active=true&blocked=true')).toEqual([])
    expect(await found('active=&blocked=false&order_by=&sort=')).toEqual(['kim', 'abe', 'zoe'])
    expect(await found('order_by=username&sort=asc')).toEqual(['abe', 'kim', 'zoe'])
    expect(await found('order_by=created_at&sort=asc')).toEqual(['zoe', 'abe', 'kim'])
    expect(await outcome(harness.send('admin', 'GET', '/users?order_by=email'))).toEqual({
      status: 400,
      body: { error: 'order_by does not have a valid value' },
    })
  })
})

describe('the last administrator', () => {
  it('is neither blocked nor demoted, even when two administrators act against each other at once', async () => {
    const administrators = await harness.database.prisma.user.findMany({
      where: { admin: true, state: 'active' },
    })
    const rival = await personWithToken({ admin: true })
    for (const { id, username } of administrators) {
      if (username !== 'admin-user') expect((await setState('admin', id, 'block')).status).toBe(201)
    }
    const answers = await Promise.all([
      setState('admin', rival.id, 'block'),
      setState(rival.secret, harness.users.admin.id, 'block'),
    ])
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const left = await harness.database.prisma.user.findMany({ where: { admin: true, state: 'active' } })
    expect(left).toHaveLength(1)
    const secret = left[0]?.id === rival.id ? rival.secret : harness.tokens.admin
    expect(await put(secret, left[0]?.id ?? 0, { admin: false })).toEqual(lastAdministrator)
  })
})
