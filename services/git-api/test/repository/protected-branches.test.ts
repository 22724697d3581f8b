import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome } from '../harness.js'
import { expectMaintainersOnly, noRow, type SharedProject, startSharedProject } from '../shared-project.js'

let shared: SharedProject
let harness: Harness
let maintainer: string
beforeAll(async () => {
  shared = await startSharedProject()
  harness = shared.harness
  maintainer = shared.maintainer
})
afterAll(() => harness?.close())

const branches = (suffix = '') => `/projects/Owner%2Fshared/protected_branches${suffix}`

/** The endpoints for maintainers: nobody else passes their guard, whatever the request contains. */
const endpoints = [
  ['POST', 'protected_branches'],
  ['GET', 'protected_branches'],
  ['GET', 'protected_branches/main'],
  ['PATCH', 'protected_branches/main'],
  ['DELETE', 'protected_branches/main'],
] as const

describe.each(endpoints)('%s /projects/:id/%s', (method, suffix) => {
  it('needs a maintainer of a project that is visible to them', () =>
    expectMaintainersOnly(shared, method, suffix))
})

describe('protected branches', () => {
  it('are created, found under their encoded name, and removed', async () => {
    const given = { name: 'release/*', push_access_level: 30, allow_force_push: 'true' }
    const level = { access_level: 30, access_level_description: 'Developers + Maintainers' }
    const expected = {
      name: 'release/*',
      push_access_levels: [level],
      merge_access_levels: [{ access_level: 40 }],
      allow_force_push: true,
    }
    const made = await outcome(harness.send(maintainer, 'POST', branches(), json(given)))
    expect(made).toMatchObject({ status: 201, body: expected })
    const list = await outcome(harness.send('owner', 'GET', branches()))
    expect(list).toMatchObject({ status: 200, body: [expected] })

    for (const name of ['release%2F*', 'release%2f%2A']) {
      const one = await outcome(harness.send('owner', 'GET', branches(`/${name}`)))
      expect(one).toEqual({ status: 200, body: made.body })
    }
    expect(await outcome(harness.send('owner', 'GET', branches('/release%2F1.0')))).toEqual(noRow)
    expect((await harness.send('owner', 'DELETE', branches('/release%2F*'))).status).toBe(204)
    expect(await outcome(harness.send('owner', 'DELETE', branches('/release%2F*')))).toEqual(noRow)
  })

  it('exist once per name and let maintainers push by default', async () => {
    const made = await outcome(harness.send('owner', 'POST', branches(), json({ name: 'v1.0' })))
    expect(made.body).toMatchObject({
      push_access_levels: [{ access_level: 40, access_level_description: 'Maintainers' }],
      allow_force_push: false,
    })
    expect(await outcome(harness.send('owner', 'POST', branches(), json({ name: 'v1.0' })))).toEqual({
      status: 409,
      body: { message: "Protected branch 'v1.0' already exists" },
    })
    expect((await harness.send('owner', 'GET', branches('/v1.0'))).status).toBe(200)
  })

  it.each([
    [{}, { error: 'name is missing' }],
    [{ name: ' ' }, { error: 'name is empty' }],
    [{ name: 'a\0b' }, { error: 'name is invalid' }],
    [{ name: 'x', push_access_level: 50 }, { error: 'push_access_level does not have a valid value' }],
    [{ name: 'x', allow_force_push: 3 }, { error: 'allow_force_push is invalid' }],
    [{ name: '--upload-pack=x' }, { message: { name: ['is not a valid branch name'] } }],
    [{ name: 'a..b' }, { message: { name: ['is not a valid branch name'] } }],
    [{ name: 'a'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
  ])('refuse %j', async (given, body) => {
    expect(await outcome(harness.send('owner', 'POST', branches(), json(given)))).toEqual({
      status: 400,
      body,
    })
  })

  it('are limited in number, even when two are created at once', async () => {
    const { body } = await outcome(harness.send('owner', 'POST', '/projects', json({ path: 'full' })))
    const projectId = Number(body?.id)
    const rows = Array.from({ length: 499 }, (_, number) => ({ projectId, name: `b${number}` }))
    await harness.database.prisma.protectedBranch.createMany({
      data: rows.map((row) => ({ ...row, pushAccessLevel: 40, allowForcePush: false })),
    })
    const made = ['x', 'y'].map((name) =>
      outcome(harness.send('owner', 'POST', `/projects/${projectId}/protected_branches`, json({ name }))),
    )
    const outcomes = (await Promise.all(made)).toSorted((a, b) => a.status - b.status)
    expect(outcomes).toEqual([
      expect.objectContaining({ status: 201 }),
      { status: 400, body: { message: 'A project can have 500 protected branches at most' } },
    ])
  })

  it('refuse a name with NUL in the path', async () => {
    expect(await outcome(harness.send('owner', 'GET', branches('/a%00b')))).toEqual({
      status: 400,
      body: { error: 'name is invalid' },
    })
  })
})
