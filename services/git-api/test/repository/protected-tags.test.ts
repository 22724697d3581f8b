import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})
beforeEach(async () => {
  await harness.database.prisma.protectedTag.deleteMany()
})

const ask: GitHarness['ask'] = (...request) => harness.ask(...request)
const path = (rest = '') => `/projects/${project.id}/protected_tags${rest}`
const tags = (rest = '') => `/projects/${project.id}/repository/tags${rest}`
const protect = (name: string, create_access_level?: number | string) =>
  ask('owner', 'POST', path(), { name, create_access_level })
const create = (who: Parameters<GitHarness['ask']>[0], tag_name: string) =>
  ask(who, 'POST', tags(), { tag_name, ref: 'main' })

/** Pushes with real git. @returns the output of git */
async function push(who: 'owner' | 'developer', ...refs: string[]): Promise<string> {
  return work
    .git('push', '--porcelain', harness.remote(who, project), ...refs)
    .catch((error) => String(error))
}

test('a protection is created, listed, shown and removed', async () => {
  const { status, body } = await protect('release/*', '30')
  expect(status).toBe(201)
  expect(body).toMatchObject({
    name: 'release/*',
    create_access_levels: [
      { access_level: 30, access_level_description: 'Developers + Maintainers', deploy_key_id: null },
    ],
  })
  await protect('v*')
  const list = await ask('owner', 'GET', path('?per_page=1&page=2'))
  expect(list.body).toMatchObject([{ name: 'v*', create_access_levels: [{ access_level: 40 }] }])
  expect(list.headers.get('x-total')).toBe('2')
  expect((await ask('owner', 'GET', path('/release%2F*'))).body).toEqual(body)
  expect((await ask('owner', 'DELETE', path('/release%2F*'))).status).toBe(204)
  expect((await ask('owner', 'DELETE', path('/release%2F*'))).status).toBe(404)
  expect((await ask('owner', 'GET', path('/release%2F*'))).status).toBe(404)
})

test("levels in GitLab's list form are shown as given, and the lowest one counts", async () => {
  const allowed = (...entries: unknown[]) => ({ name: 'listed-*', allowed_to_create: entries })
  const { status, body } = await ask(
    'owner',
    'POST',
    path(),
    allowed({ access_level: 40 }, { access_level: 30 }),
  )
  expect(status).toBe(201)
  expect(body.create_access_levels).toMatchObject([{ access_level: 40 }, { access_level: 30 }])
  expect((await ask('owner', 'GET', path('/listed-*'))).body).toEqual(body)
  expect((await create('developer', 'listed-1')).status).toBe(201)
  expect(await ask('owner', 'POST', path(), allowed({ user_id: 1 }))).toMatchObject({
    status: 400,
    body: { error: 'allowed_to_create[0][user_id] is not supported: a protection names access levels only' },
  })
})

test('an invalid protection is refused, and only maintainers create one', async () => {
  await protect('v*')
  expect(await protect('v*')).toMatchObject({ status: 422, body: { message: 'Name has already been taken' } })
  expect(await protect('a b')).toMatchObject({
    status: 400,
    body: { message: { name: [expect.any(String)] } },
  })
  expect((await protect('x'.repeat(256))).status).toBe(400)
  expect((await protect('w', 20)).body.error).toBe('create_access_level does not have a valid value')
  expect((await ask('owner', 'POST', path(), {})).body.error).toBe('name is missing')
  expect((await ask('developer', 'POST', path(), { name: 'x' })).status).toBe(403)
  expect((await ask('anonymous', 'GET', path())).status).toBe(401)
})

test('the role of a protection may create the tag over the API, and deleting it needs a maintainer', async () => {
  await protect('api-*')
  const refusal = 'You are not allowed to create this tag as it is protected.'
  expect(await create('developer', 'api-1')).toMatchObject({ status: 400, body: { message: refusal } })
  expect(await create('owner', 'api-1')).toMatchObject({ status: 201, body: { protected: true } })
  expect((await ask('reporter', 'GET', tags('/api-1'))).body).toMatchObject({ protected: true })
  expect((await ask('reporter', 'GET', tags('/v1.0'))).body).toMatchObject({ protected: false })
  const deleted = await ask('developer', 'DELETE', tags('/api-1'))
  expect(deleted).toMatchObject({ status: 403 })
  expect(deleted.body.message).toContain('not allowed to delete protected tags')
  expect((await ask('owner', 'DELETE', tags('/api-1'))).status).toBe(204)
})

test('level 0 locks a tag for everybody, and one permitting protection among several is enough', async () => {
  await protect('locked*', 0)
  expect((await create('owner', 'locked-1')).status).toBe(400)
  await protect('locked-but', 30)
  expect((await create('developer', 'locked-but')).status).toBe(201)
})

test('the same rules apply to pushes: create by role, move by nobody, delete by maintainers', async () => {
  await protect('git-*')
  await work.git('tag', 'git-1', 'main')
  await work.git('tag', 'free-1', 'main')
  const said = await push('developer', 'git-1', 'free-1')
  expect(said).toContain('You are not allowed to create this tag as it is protected: git-1')
  expect((await ask('reporter', 'GET', tags('/git-1'))).status).toBe(404)
  expect((await ask('reporter', 'GET', tags('/free-1'))).status).toBe(200)
  expect(await push('owner', 'git-1')).toContain('[new tag]')
  await work.git('tag', '--force', 'git-1', 'main~1')
  expect(await push('owner', '--force', 'git-1')).toContain('Protected tags cannot be updated: git-1')
  expect(await push('developer', ':git-1')).toContain('not allowed to delete this protected tag: git-1')
  expect(await push('owner', ':git-1')).toContain('[deleted]')
})
