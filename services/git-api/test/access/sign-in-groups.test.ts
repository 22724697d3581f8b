import { accessLevels } from '@switchyard/domain/access'
import { addMember, createProject } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SignIn, startSignIn } from './sign-in-harness.js'

let signIn: SignIn
let projects: { one: number; two: number; other: number }
beforeAll(async () => {
  signIn = await startSignIn()
  const { database, users } = signIn.harness
  const make = async (path: string) => (await createProject(database, users.owner, { path })).id
  projects = { one: await make('eng-one'), two: await make('eng-two'), other: await make('other') }
})
afterAll(() => signIn?.close())

/** Signs in with groups. @returns the user's id and window */
async function withGroups(login: string, groups: unknown) {
  signIn.accounts[login] = { preferred_username: login, name: login, groups }
  const { window, page } = await signIn.signIn(login, { name: 'groups' })
  expect(page).toBe('/console/')
  const { body } = await signIn.api(window, '/session')
  return { id: body.user.id as number, isAdmin: body.user.is_admin as boolean, window }
}

const rolesOf = async (userId: number) => {
  const rows = await signIn.harness.database.prisma.projectMember.findMany({ where: { userId } })
  return Object.fromEntries(rows.map(({ projectId, accessLevel }) => [projectId, accessLevel]))
}

const changesOf = async (userId: number) =>
  (await signIn.eventsOf(userId))
    .filter(({ eventName }) => eventName.startsWith('member') || eventName === 'user_updated')
    .map(({ eventName, entityId, details }) => [eventName, Number(entityId), details])

describe('groups', () => {
  it('grant the highest role that they name, and revoke it at the next sign-in', async () => {
    const { id, window } = await withGroups('grace', ['eng', 'lead', 'unknown'])
    const { one, two, other } = projects
    expect(await rolesOf(id)).toEqual({ [one]: 40, [two]: 30, [other]: 20 })
    expect((await signIn.api(window, `/projects/${one}/members`)).status).toBe(200)

    await withGroups('grace', ['lead'])
    expect(await rolesOf(id)).toEqual({ [one]: 40 })
    await withGroups('grace', ['eng'])
    expect(await rolesOf(id)).toEqual({ [one]: 30, [two]: 30, [other]: 20 })
    await withGroups('grace', [])
    expect(await rolesOf(id)).toEqual({})
    expect((await signIn.api(window, `/projects/${one}/members`)).status).toBe(404)

    const by = { user_id: id, provider: 'groups' }
    const changes = await changesOf(id)
    expect(changes.slice(0, 3)).toEqual(
      expect.arrayContaining([
        ['member_added', one, { ...by, access_level: 40 }],
        ['member_added', two, { ...by, access_level: 30 }],
        ['member_added', other, { ...by, access_level: 20 }],
      ]),
    )
    expect(changes).toContainEqual([
      'member_changed',
      one,
      { ...by, access_level: 30, access_level_before: 40 },
    ])
    expect(changes).toContainEqual(['member_removed', other, { ...by, access_level: 20 }])
  })

  it('do not change roles that were granted manually', async () => {
    const { id } = await withGroups('hand', [])
    const { database } = signIn.harness
    const user = { id }
    await addMember(database, { id: projects.one } as never, user as never, accessLevels.guest)
    await withGroups('hand', ['eng', 'lead'])
    expect(await rolesOf(id)).toMatchObject({ [projects.one]: 10, [projects.two]: 30 })
    await withGroups('hand', [])
    expect(await rolesOf(id)).toEqual({ [projects.one]: 10 })
  })

  it('grant and revoke the rights of administrators at sign-in, but keep those that were granted manually', async () => {
    const first = await withGroups('root-by-group', ['ops'])
    expect(first.isAdmin).toBe(true)
    expect((await signIn.api(first.window, '/audit_events')).status).toBe(200)
    expect((await withGroups('root-by-group', ['eng'])).isAdmin).toBe(false)
    expect((await signIn.api(first.window, '/audit_events')).status).toBe(403)
    expect((await changesOf(first.id)).filter(([name]) => name === 'user_updated')).toEqual([
      [
        'user_updated',
        first.id,
        { changed: ['admin'], username: 'root-by-group', admin: true, provider: 'groups' },
      ],
      [
        'user_updated',
        first.id,
        { changed: ['admin'], username: 'root-by-group', admin: false, provider: 'groups' },
      ],
    ])
    await signIn.harness.database.prisma.user.update({ where: { id: first.id }, data: { admin: true } })
    expect((await withGroups('root-by-group', [])).isAdmin).toBe(true)
  })

  it('never remove the last administrator', async () => {
    const { database } = signIn.harness
    const { id } = await withGroups('last', ['ops'])
    const others = { where: { admin: true, id: { not: id } } }
    const ids = (await database.prisma.user.findMany(others)).map((user) => user.id)
    await database.prisma.user.updateMany({ ...others, data: { admin: false } })
    try {
      expect((await withGroups('last', [])).isAdmin).toBe(true)
    } finally {
      await database.prisma.user.updateMany({ where: { id: { in: ids } }, data: { admin: true } })
    }
    expect((await withGroups('last', [])).isAdmin).toBe(false)
  })

  it('are read from a list of up to 10,000 or a single text; any other value counts as no groups', async () => {
    const many = Array.from({ length: 9_999 }, (_, index) => `group-${index}`)
    const { id } = await withGroups('many', [...many, 'eng'])
    expect(await rolesOf(id)).toMatchObject({ [projects.two]: 30 })
    await withGroups('many', 'lead')
    expect(await rolesOf(id)).toEqual({ [projects.one]: 40 })
    await withGroups('many', { eng: true })
    expect(await rolesOf(id)).toEqual({})
    await withGroups('many', [...many, 'x', 'eng'])
    expect(await rolesOf(id)).toEqual({})
  })
})
