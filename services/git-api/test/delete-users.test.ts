import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { addMember, createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from './harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const remove = (who: string, id: number | string, query = '') =>
  outcome(harness.send(who, 'DELETE', `/users/${id}${query}`))

async function person(username: string) {
  const user = await createUser(harness.database, { username })
  return { ...user, secret: await harness.secretOf(user) }
}

const project = async (secret: string, path: string) =>
  (await outcome(harness.send(secret, 'POST', '/projects', json({ path, initialize_with_readme: true }))))
    .body as { id: number }

it('a user is gone with tokens and sessions, and what they wrote in projects stays without a name', async () => {
  const { id: projectId } = await project(harness.tokens.owner, 'kept')
  const leaving = await person('leaving')
  await addMember(harness.database, { id: projectId }, leaving, 40)
  const of = `/projects/${projectId}`
  const post = (path: string, body: object) =>
    outcome(harness.send(leaving.secret, 'POST', `${of}${path}`, json(body)))
  await post('/repository/commits/main/comments', { note: 'Mine' })
  await post('/statuses/main', { state: 'success' })
  const made = await post('/access_tokens', { name: 'ci', scopes: ['api'], access_level: 30 })
  const projectToken = String(made.body?.token)
  const deployToken = await post('/deploy_tokens', { name: 'fetch', scopes: ['read_repository'] })
  expect([made.status, deployToken.status]).toEqual([201, 201])
  expect((await harness.send(projectToken, 'GET', of)).status).toBe(200)

  expect(await remove('admin', leaving.id)).toEqual({ status: 204, body: null })
  expect((await harness.send(leaving.secret, 'GET', '/user')).status).toBe(401)
  expect((await harness.send(projectToken, 'GET', of)).status).toBe(401)
  expect(await outcome(harness.send('owner', 'GET', `${of}/deploy_tokens`))).toMatchObject({ body: [] })
  const read = async (path: string) => (await outcome(harness.send('owner', 'GET', `${of}${path}`))).body
  expect(await read('/repository/commits/main/comments')).toMatchObject([{ note: 'Mine', author: null }])
  expect(await read('/repository/commits/main/statuses')).toMatchObject([{ author: null }])
  const members = (await read('/members')) as unknown as { username: string }[]
  expect(members.map(({ username }) => username)).not.toContain('leaving')
  expect(await remove('admin', leaving.id)).toMatchObject({
    status: 404,
    body: { message: '404 User Not Found' },
  })
  const events = `/audit_events?entity_type=User&entity_id=${leaving.id}&event_name=user_destroyed`
  expect((await outcome(harness.send('admin', 'GET', events))).body).toMatchObject([
    { details: { username: 'leaving', with_projects: false } },
  ])
  expect((await person('leaving')).id).not.toBe(leaving.id)
})

it('who owns projects goes only together with them', async () => {
  const owner = await person('landlord')
  const { id } = await project(owner.secret, 'house')
  const { diskPath } = await harness.database.prisma.project.findUniqueOrThrow({ where: { id } })
  const refused = { status: 409, body: { message: expect.stringContaining('they own a project') } }
  expect(await remove('admin', owner.id)).toMatchObject(refused)
  expect(await remove('admin', owner.id, '?hard_delete=maybe')).toMatchObject({ status: 400 })
  expect((await harness.send(owner.secret, 'GET', `/projects/${id}`)).status).toBe(200)
  expect(await remove('admin', owner.id, '?hard_delete=true')).toMatchObject({ status: 204 })
  expect((await harness.send('admin', 'GET', `/projects/${id}`)).status).toBe(404)
  expect(existsSync(join(harness.storageRoot, diskPath))).toBe(false)
  const events = `/audit_events?entity_type=Project&entity_id=${id}&event_name=project_destroyed`
  expect((await outcome(harness.send('admin', 'GET', events))).body).toHaveLength(1)
})

it('administrators delete neither themselves nor the first administrator', async () => {
  const { admin } = harness.users
  expect(await remove('admin', admin.id)).toMatchObject({ status: 403 })
  const root = await harness.database.prisma.user.findUniqueOrThrow({ where: { usernameKey: 'root' } })
  expect(await remove('admin', root.id, '?hard_delete=1')).toMatchObject({ status: 403 })
})

it('is for administrators, with a token that may write', async () => {
  const { id } = await person('staying')
  const reading = (
    await createToken(harness.database, harness.users.admin, { scopes: ['read_api', 'read_user'] })
  ).secret
  expect((await remove('guest', id)).status).toBe(401)
  expect((await remove('user', id)).status).toBe(403)
  expect((await remove(reading, id)).status).toBe(403)
  expect((await remove('admin', 'staying')).status).toBe(400)
  expect((await remove('admin', 2_147_483_647)).status).toBe(404)
})
