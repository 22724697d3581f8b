import { holdsWithinASecond } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome } from '../harness.js'
import {
  expectMaintainersOnly,
  needs,
  noProject,
  noRow,
  type SharedProject,
  startSharedProject,
} from '../shared-project.js'

let shared: SharedProject
let harness: Harness
let project: { id: number }
let maintainer: string
beforeAll(async () => {
  shared = await startSharedProject()
  harness = shared.harness
  project = shared.project
  maintainer = shared.maintainer
})
afterAll(() => harness?.close())

const forbidden = { status: 403, body: { message: '403 Forbidden' } }

const members = (suffix = '') => `/projects/${project.id}/members${suffix}`

/** The endpoints for maintainers: nobody else passes their guard, whatever the request contains. */
const endpoints = [
  ['POST', 'members'],
  ['PUT', 'members/1'],
  ['DELETE', 'members/1'],
] as const

describe.each(endpoints)('%s /projects/:id/%s', (method, suffix) => {
  it('needs a maintainer of a project that is visible to them', () =>
    expectMaintainersOnly(shared, method, suffix))
})

describe('members', () => {
  it('are added and removed, and their role takes effect at once', async () => {
    const { id } = await shared.newUser('guest-to-be')
    const secret = await harness.secretOf({ id })
    expect(await outcome(harness.send(secret, 'GET', `/projects/${project.id}`))).toEqual(noProject)
    const added = await outcome(
      harness.send(maintainer, 'POST', members(), json({ user_id: String(id), access_level: '10' })),
    )
    expect(added).toMatchObject({
      status: 201,
      body: { id, username: 'guest-to-be', state: 'active', access_level: 10, expires_at: null },
    })
    expect((await harness.send(secret, 'GET', `/projects/${project.id}`)).status).toBe(200)
    const commits = await outcome(harness.send(secret, 'GET', `/projects/${project.id}/repository/commits`))
    expect(commits).toEqual(needs('Reporter'))

    expect((await harness.send('owner', 'DELETE', members(`/${id}`))).status).toBe(204)
    expect(await outcome(harness.send(secret, 'GET', `/projects/${project.id}`))).toEqual(noProject)
    expect(await outcome(harness.send('owner', 'DELETE', members(`/${id}`)))).toEqual(noRow)
  })

  it('are added by username, without the right to list users', async () => {
    const { id } = await shared.newUser('Named-Guest')
    const add = (username: string) =>
      outcome(harness.send(maintainer, 'POST', members(), json({ username, access_level: 10 })))
    expect(await add('named-guest')).toMatchObject({ status: 201, body: { id, username: 'Named-Guest' } })
    expect(await add('nobody-of-this-name')).toEqual({ status: 404, body: { message: '404 User Not Found' } })
    expect((await harness.send('owner', 'DELETE', members(`/${id}`))).status).toBe(204)
  })

  it('are listed in pages, including the owner', async () => {
    const response = await harness.send('ownerReading', 'GET', members('?per_page=2'))
    expect(response.headers.get('X-Total')).toBe('3')
    const { body } = await outcome(response)
    expect(body).toMatchObject([
      { username: 'Owner', access_level: 50 },
      { username: 'ordinary', access_level: 30 },
    ])
    expect(body).not.toHaveProperty('0.email')
  })

  it('are listed with inherited ones and found by user, as in GitLab', async () => {
    const direct = await outcome(harness.send('owner', 'GET', members()))
    expect(await outcome(harness.send('owner', 'GET', members('/all')))).toEqual(direct)
    const paged = await harness.send('owner', 'GET', members('/all?per_page=1&page=2'))
    expect(paged.headers.get('X-Total')).toBe('3')
    expect(paged.headers.get('Link')).toContain(`/members/all?`)
    const { id } = harness.users.user
    for (const suffix of [`/${id}`, `/all/${id}`]) {
      const found = await outcome(harness.send('ownerReading', 'GET', members(suffix)))
      expect(found).toMatchObject({ status: 200, body: { id, username: 'ordinary', access_level: 30 } })
    }
    for (const suffix of ['/2000000000', '/all/2000000000', `/${harness.users.admin.id}`]) {
      expect(await outcome(harness.send('owner', 'GET', members(suffix))), suffix).toEqual(noRow)
    }
    for (const suffix of ['/x', '/all/x']) {
      expect(await outcome(harness.send('owner', 'GET', members(suffix)))).toEqual({
        status: 400,
        body: { error: 'user_id is invalid' },
      })
    }
  })

  it('are added once, and never with a higher level than the caller', async () => {
    const add = (who: string, user_id: number, access_level: number) =>
      outcome(harness.send(who, 'POST', members(), json({ user_id, access_level })))
    expect(await add('owner', harness.users.user.id, 20)).toEqual({
      status: 409,
      body: { message: 'Member already exists' },
    })
    expect(await add('owner', harness.users.owner.id, 20)).toMatchObject({ status: 409 })
    expect(await add('owner', 2_000_000_000, 20)).toEqual({
      status: 404,
      body: { message: '404 User Not Found' },
    })
    expect(await add(maintainer, harness.users.admin.id, 50)).toEqual(forbidden)
  })

  it('include the owner, who cannot be removed', async () => {
    const refused = { status: 403, body: { message: '403 Forbidden - A project cannot lose its owner' } }
    const path = members(`/${harness.users.owner.id}`)
    expect(await outcome(harness.send('owner', 'DELETE', path))).toEqual(refused)
    expect(await outcome(harness.send(maintainer, 'DELETE', path))).toEqual(refused)
    expect(await outcome(harness.send('owner', 'DELETE', members('/x')))).toEqual({
      status: 400,
      body: { error: 'user_id is invalid' },
    })
  })

  it.each([
    [{}, 'access_level is missing'],
    [{ access_level: 10 }, 'user_id, username are missing, at least one parameter must be provided'],
    [{ user_id: 1, username: 'x', access_level: 10 }, 'user_id, username are mutually exclusive'],
    [{ user_id: 'x', access_level: 10 }, 'user_id is invalid'],
    [{ user_id: 1, access_level: 35 }, 'access_level does not have a valid value'],
    [{ user_id: 1, access_level: 'x' }, 'access_level is invalid'],
  ])('refuse %j', async (given, error) => {
    expect(await outcome(harness.send('owner', 'POST', members(), json(given)))).toEqual({
      status: 400,
      body: { error },
    })
  })
})

describe('PUT /projects/:id/members/:user_id', () => {
  const change = (who: string, id: number, fields: object) =>
    outcome(harness.send(who, 'PUT', members(`/${id}`), json(fields)))
  const add = async (username: string, access_level: number) => {
    const { id } = await shared.newUser(username)
    await harness.send('owner', 'POST', members(), json({ user_id: id, access_level }))
    return { id, secret: await harness.secretOf({ id }) }
  }

  it('changes the role of a member, which takes effect at once, also for reading code', async () => {
    const { id, secret } = await add('to-be-demoted', 30)
    const commits = `/projects/${project.id}/repository/commits`
    expect((await harness.send(secret, 'GET', commits)).status).toBe(200)
    expect(await change(maintainer, id, { access_level: '10' })).toMatchObject({
      status: 200,
      body: { id, username: 'to-be-demoted', access_level: 10, expires_at: null, membership_state: 'active' },
    })
    expect(await outcome(harness.send(secret, 'GET', commits))).toEqual(needs('Reporter'))
    const path = `/audit_events?event_name=member_changed&entity_id=${project.id}`
    const audit = await outcome(harness.send('admin', 'GET', path))
    expect(audit.body).toMatchObject([
      { details: { user_id: id, access_level: 10, access_level_before: 30 }, entity_type: 'Project' },
    ])
  })

  it('takes effect in another instance within a second', async () => {
    const other = await harness.start()
    const { id, secret } = await add('demoted-elsewhere', 30)
    const elsewhere = () =>
      harness.send(secret, 'GET', `/projects/${project.id}/repository/commits`, {}, other)
    expect((await elsewhere()).status).toBe(200)
    expect((await change('owner', id, { access_level: 10 })).status).toBe(200)
    await holdsWithinASecond(async () => (await elsewhere()).status !== 200)
    expect(await outcome(elsewhere())).toEqual(needs('Reporter'))
  })

  it("cannot raise a member above the caller's role or change a member above it", async () => {
    const peer = await add('second-owner', 50)
    const developer = await add('promoted', 30)
    expect(await change(maintainer, developer.id, { access_level: 50 })).toEqual(forbidden)
    expect(await change(maintainer, developer.id, { access_level: 40 })).toMatchObject({ status: 200 })
    expect(await change(maintainer, peer.id, { access_level: 10 })).toEqual(forbidden)
    expect(await outcome(harness.send(maintainer, 'DELETE', members(`/${peer.id}`)))).toEqual(forbidden)
    expect(await change('owner', peer.id, { access_level: 20 })).toMatchObject({ status: 200 })
  })

  it('keeps the owner, refuses bad input, and answers 404 for users who are not members', async () => {
    const refused = { status: 403, body: { message: '403 Forbidden - A project cannot lose its owner' } }
    expect(await change('owner', harness.users.owner.id, { access_level: 10 })).toEqual(refused)
    expect(await change('admin', harness.users.owner.id, { access_level: 40 })).toEqual(refused)
    expect(await change('owner', 2_000_000_000, { access_level: 10 })).toEqual(noRow)
    expect(await change('owner', harness.users.user.id, {})).toEqual({
      status: 400,
      body: { error: 'access_level is missing' },
    })
    expect(await change('owner', harness.users.user.id, { access_level: 35 })).toEqual({
      status: 400,
      body: { error: 'access_level does not have a valid value' },
    })
  })
})
