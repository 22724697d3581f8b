import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
let project: number
let other: number
const newProject = async (path: string, visibility = 'private') => {
  const made = await outcome(harness.send('owner', 'POST', '/projects', json({ path, visibility })))
  return Number(made.body?.id)
}
beforeAll(async () => {
  harness = await startHarness()
  project = await newProject('built')
  other = await newProject('elsewhere', 'internal')
})
afterAll(() => harness?.close())

const tokens = (suffix = '', of = project) => `/projects/${of}/access_tokens${suffix}`
/** Returns the date that many days from now, as `2030-12-31`. */
const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const given = { name: 'pipeline', scopes: ['api'], access_level: 30 }

async function issue(fields: Record<string, unknown> = {}) {
  const made = await outcome(harness.send('owner', 'POST', tokens(), json({ ...given, ...fields })))
  expect(made.status).toBe(201)
  return made.body as { id: number; user_id: number; token: string; access_level: number }
}

describe('a project token', () => {
  it('is shown once, listed without its secret, and acts as a bot with its role', async () => {
    const issued = await issue()
    expect(issued).toMatchObject({ name: 'pipeline', access_level: 30, active: true, scopes: ['api'] })
    const listed = await outcome(harness.send('owner', 'GET', tokens()))
    expect(listed.body).toContainEqual(expect.objectContaining({ id: issued.id, access_level: 30 }))
    expect(JSON.stringify(listed.body)).not.toContain(issued.token)
    const one = await outcome(harness.send('owner', 'GET', tokens(`/${issued.id}`)))
    expect(one).toMatchObject({ status: 200, body: { id: issued.id, user_id: issued.user_id } })
    const self = await outcome(harness.send(issued.token, 'GET', '/user'))
    expect(self.body).toMatchObject({ id: issued.user_id, name: 'pipeline', bot: true, is_admin: false })
  })

  it('works in its project within its role', async () => {
    const { token } = await issue()
    const status = async (method: string, path: string, init?: RequestInit) =>
      (await harness.send(token, method, path, init)).status
    const commits = `/projects/${project}/repository/commits`
    const commit = json({
      branch: 'main',
      commit_message: 'By a pipeline',
      actions: [{ action: 'create', file_path: 'a', content: 'a' }],
    })
    expect(await status('POST', commits, commit)).toBe(201)
    expect(await status('POST', `/projects/${project}/statuses/main?state=success`)).toBe(201)
    expect(await status('GET', `/projects/${project}/members`)).toBe(200)
    expect(await status('GET', `/projects/${project}/hooks`)).toBe(403)
    expect(await status('GET', tokens())).toBe(403)
  })

  it('has no rights in other projects, and cannot create a project', async () => {
    const { token } = await issue({ access_level: 50 })
    const open = await newProject('open', 'public')
    const status = async (method: string, path: string, init?: RequestInit) =>
      (await harness.send(token, method, path, init)).status
    expect(await status('GET', `/projects/${other}`)).toBe(404)
    expect(await status('GET', `/projects/${open}`)).toBe(200)
    expect(await status('GET', `/projects/${open}/members`)).toBe(403)
    expect(await status('POST', '/projects', json({ path: 'mine' }))).toBe(403)
    const listed = (await (await harness.send(token, 'GET', '/projects')).json()) as { id: number }[]
    expect(listed.map(({ id }) => id)).toEqual([project])
  })

  it('stops working within a second of its revocation, and its bot leaves the project', async () => {
    const { id, token, user_id } = await issue()
    expect((await harness.send('owner', 'DELETE', tokens(`/${id}`))).status).toBe(204)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect((await harness.send(token, 'GET', '/user')).status).toBe(401)
    const members = await (await harness.send('owner', 'GET', `/projects/${project}/members`)).text()
    expect(members).not.toContain(`"id":${user_id},`)
    expect((await harness.send('owner', 'DELETE', tokens(`/${id}`))).status).toBe(404)
  })

  it('stays bound to its project when it is rotated', async () => {
    const { token } = await issue()
    const rotated = await outcome(harness.send(token, 'POST', '/personal_access_tokens/self/rotate'))
    const secret = String(rotated.body?.token)
    expect((await harness.send(secret, 'GET', `/projects/${project}`)).status).toBe(200)
    expect((await harness.send(secret, 'GET', `/projects/${other}`)).status).toBe(404)
  })

  it('can be replaced by maintainers, with any last day, and keeps its name, scopes and role', async () => {
    const old = await issue({ scopes: ['read_api'], expires_at: dayIn(10) })
    const path = tokens(`/${old.id}/rotate`)
    const rotated = await outcome(harness.send('owner', 'POST', path, json({ expires_at: dayIn(90) })))
    expect(rotated).toMatchObject({
      status: 200,
      body: { name: 'pipeline', scopes: ['read_api'], access_level: 30, user_id: old.user_id },
    })
    expect(rotated.body).toMatchObject({ expires_at: dayIn(90), active: true })
    expect((await harness.send(old.token, 'GET', '/user')).status).toBe(401)
    const secret = String(rotated.body?.token)
    expect((await harness.send(secret, 'GET', `/projects/${project}`)).status).toBe(200)
    expect((await harness.send(secret, 'GET', `/projects/${other}`)).status).toBe(404)
    expect(await outcome(harness.send('owner', 'POST', path))).toEqual({
      status: 400,
      body: { message: '400 Bad request - Token already revoked' },
    })
    const again = tokens(`/${rotated.body?.id}/rotate`)
    expect((await harness.send('owner', 'POST', again, json({ expires_at: '2001-01-01' }))).status).toBe(400)
    expect((await harness.send('owner', 'POST', again, json({ expires_at: 'soon' }))).status).toBe(400)
    expect(
      (await outcome(harness.send('owner', 'POST', again, json({ expires_at: '' })))).body,
    ).toMatchObject({ expires_at: dayIn(90) })
  })

  it('cannot be replaced by other users, or by tokens that have a lower role or expire earlier', async () => {
    const owning = await issue({ access_level: 50 })
    const maintaining = await issue({ access_level: 40, expires_at: dayIn(5) })
    const developing = await issue()
    const ask = (who: string, id: number | string, fields = {}, of = project) =>
      outcome(harness.send(who, 'POST', tokens(`/${id}/rotate`, of), json(fields)))
    expect((await ask('guest', developing.id)).status).toBe(401)
    expect((await ask('user', developing.id)).status).toBe(404)
    expect((await ask('ownerReading', developing.id)).status).toBe(403)
    expect((await ask(developing.token, developing.id)).status).toBe(403)
    expect((await ask(maintaining.token, owning.id)).status).toBe(403)
    expect((await ask('owner', 999_999)).status).toBe(404)
    expect((await ask('owner', developing.id, {}, other)).status).toBe(404)
    expect((await ask('owner', 'x')).status).toBe(400)
    expect((await ask(maintaining.token, developing.id, { expires_at: dayIn(6) })).status).toBe(400)
    expect((await ask(maintaining.token, developing.id)).body).toMatchObject({ expires_at: dayIn(5) })
    expect((await ask(maintaining.token, maintaining.id, { expires_at: dayIn(6) })).status).toBe(400)
    expect((await ask(maintaining.token, maintaining.id)).body).toMatchObject({ expires_at: dayIn(5) })
  })

  it('can replace itself, whatever its role is, if its scopes allow it', async () => {
    const itself = (who: string, fields = {}, of: number | string = project) =>
      outcome(harness.send(who, 'POST', `/projects/${of}/access_tokens/self/rotate`, json(fields)))
    const guest = await issue({ scopes: ['self_rotate'], access_level: 10, expires_at: dayIn(7) })
    expect((await itself(guest.token, { expires_at: dayIn(8) })).status).toBe(400)
    expect((await itself(guest.token, {}, other)).status).toBe(404)
    const rotated = await itself(guest.token)
    expect(rotated).toMatchObject({
      status: 200,
      body: { scopes: ['self_rotate'], access_level: 10, expires_at: dayIn(7) },
    })
    expect((await itself(guest.token)).status).toBe(401)
    expect((await itself(String(rotated.body?.token), { expires_at: dayIn(2) })).body).toMatchObject({
      expires_at: dayIn(2),
    })
    const reading = await issue({ scopes: ['read_api'] })
    expect(await itself(reading.token)).toMatchObject({
      status: 403,
      body: { scope: 'api self_rotate' },
    })
    expect((await itself('guest')).status).toBe(401)
    expect((await itself('user')).status).toBe(404)
    expect((await itself('owner')).status).toBe(403)
    expect((await itself('owner', {}, 999_999)).status).toBe(404)
  })

  it('is issued by maintainers, and never with a higher role than their own', async () => {
    const maintainer = await issue({ access_level: 40 })
    const asked = (who: string, fields: object, of = project) =>
      outcome(harness.send(who, 'POST', tokens('', of), json({ ...given, ...fields })))
    expect((await asked(maintainer.token, { access_level: 40 })).status).toBe(201)
    expect((await asked(maintainer.token, { access_level: 50 })).status).toBe(403)
    expect((await asked('guest', {})).status).toBe(401)
    expect((await asked('user', {})).status).toBe(404)
    expect((await asked('user', {}, other)).status).toBe(403)
    expect((await asked('owner', {}, 999_999)).status).toBe(404)
    expect(await asked('owner', { name: '' })).toMatchObject({
      status: 400,
      body: { error: 'name is empty' },
    })
    // The last three scopes reach beyond the project, so only administrators may grant them.
    for (const scope of ['sudo', 'read_metrics', 'read_sagas', 'saga_report']) {
      expect(await asked('owner', { scopes: ['api', scope] })).toMatchObject({
        status: 400,
        body: { error: 'scopes does not have a valid value' },
      })
    }
    expect((await asked('owner', { expires_at: '2001-01-01' })).status).toBe(400)
    expect((await harness.send('owner', 'GET', tokens('/999999'))).status).toBe(404)
  })
})

describe('the audit log', () => {
  const events = async (query: Record<string, string>) => {
    const path = `/audit_events?${new URLSearchParams(query)}`
    return (await (await harness.send('admin', 'GET', path)).json()) as Record<string, unknown>[]
  }

  it('records who did what to users, tokens, members and protected branches', async () => {
    const user = { email: 'neo@example.com', username: 'neo', name: 'Neo' }
    const { body } = await outcome(harness.send('admin', 'POST', '/users', json(user)))
    const id = Number(body?.id)
    const token = json({ name: 'laptop', scopes: ['read_api', 'self_rotate'] })
    const issued = await outcome(harness.send('admin', 'POST', `/users/${id}/personal_access_tokens`, token))
    const secret = String(issued.body?.token)
    const rotated = await outcome(harness.send(secret, 'POST', '/personal_access_tokens/self/rotate'))
    await harness.send(String(rotated.body?.token), 'DELETE', '/personal_access_tokens/self')
    const members = `/projects/${project}/members`
    await harness.send('owner', 'POST', members, json({ user_id: id, access_level: 20 }))
    await harness.send('owner', 'DELETE', `${members}/${id}`)
    const branches = `/projects/${project}/protected_branches`
    await harness.send('owner', 'POST', branches, json({ name: 'release/*' }))
    await harness.send('owner', 'DELETE', `${branches}/release%2F*`)

    const ofUser = await events({ entity_type: 'User', entity_id: String(id) })
    expect(ofUser.map(({ event_name }) => event_name)).toEqual([
      'access_token_revoked',
      'access_token_rotated',
      'personal_access_token_created',
      'user_created',
    ])
    expect(ofUser.at(-1)).toMatchObject({
      author_id: harness.users.admin.id,
      details: { username: 'neo', author_name: harness.users.admin.name, ip_address: '127.0.0.1' },
    })
    const ofProject = await events({ entity_type: 'Project', entity_id: String(project), per_page: '4' })
    expect(ofProject.map(({ event_name }) => event_name)).toEqual([
      'protected_branch_removed',
      'protected_branch_created',
      'member_removed',
      'member_added',
    ])
    expect(ofProject[3]).toMatchObject({
      author_id: harness.users.owner.id,
      details: { user_id: id, access_level: 20 },
    })
    expect(JSON.stringify(ofUser)).not.toContain(secret)
    expect(await events({ event_name: 'user_created', author_id: String(harness.users.owner.id) })).toEqual(
      [],
    )
    expect(await events({ created_after: '2100-01-01T00:00:00Z' })).toEqual([])
  })

  it('records nothing of refused requests', async () => {
    const before = (await events({ event_name: 'user_created' })).length
    await harness.send('admin', 'POST', '/users', json({ email: 'x', username: '!', name: 'x' }))
    await harness.send('user', 'POST', '/users', json({ email: 'y@example.com', username: 'y', name: 'y' }))
    expect(await events({ event_name: 'user_created' })).toHaveLength(before)
  })

  it('needs an administrator, also for a single entry', async () => {
    const [event] = await events({})
    const status = async (who: string, path: string) => (await harness.send(who, 'GET', path)).status
    for (const path of ['/audit_events', `/audit_events/${event?.id}`]) {
      expect(await status('admin', path)).toBe(200)
      expect(await status('owner', path)).toBe(403)
      expect(await status('guest', path)).toBe(401)
    }
    expect(await status('admin', '/audit_events/2000000000')).toBe(404)
    expect(await status('admin', '/audit_events/x')).toBe(400)
    expect(await status('admin', '/audit_events?created_after=yesterday')).toBe(400)
  })
})
