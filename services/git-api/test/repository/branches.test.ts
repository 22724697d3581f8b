import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

type Who = Parameters<GitHarness['send']>[0]

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const path = (rest = '', of = project) => `/projects/${of.id}/repository/branches${rest}`
const named = (name: string) => path(`/${encodeURIComponent(name)}`)

const ask: GitHarness['ask'] = (...request) => harness.ask(...request)

const create = (who: Who, branch: string, ref: string) => ask(who, 'POST', path(), { branch, ref })
const namesOf = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name)

test("a branch is shown with its commit and the caller's rights", async () => {
  const { status, body } = await ask('developer', 'GET', named('main'))
  expect(status).toBe(200)
  expect(Object.keys(body)).toEqual([
    'name',
    'commit',
    'merged',
    'protected',
    'developers_can_push',
    'developers_can_merge',
    'can_push',
    'default',
    'web_url',
  ])
  expect(body).toMatchObject({ name: 'main', merged: false, protected: false, default: true, can_push: true })
  expect(body.commit.id).toBe(await work.git('rev-parse', 'main'))
  expect((await ask('reporter', 'GET', named('main'))).body.can_push).toBe(false)
})

test('a regular expression filters names, alone and together with a search', async () => {
  const names = ['tmp/a', 'tmp/b', 'x-tmp/c']
  for (const name of names) expect((await create('developer', name, commits.first)).status).toBe(201)
  const found = await ask('developer', 'GET', path('?regex=%5Etmp/'))
  expect([namesOf(found), found.headers.get('x-total')]).toEqual([['tmp/a', 'tmp/b'], '2'])
  expect(namesOf(await ask('developer', 'GET', path('?regex=tmp/&search=c')))).toEqual(['x-tmp/c'])
  const next = await ask('developer', 'GET', path('?regex=%5Etmp/&per_page=1'))
  expect(next.headers.get('Link')).toContain('regex=%5Etmp%2F')
  expect(await ask('developer', 'GET', path('?regex=%28'))).toMatchObject({
    status: 400,
    body: { message: 'Regex is invalid' },
  })
  expect(await ask('developer', 'GET', path(`?regex=${'x'.repeat(201)}`))).toMatchObject({
    status: 400,
    body: { error: 'regex is too long (maximum is 200 characters)' },
  })
  for (const name of names) expect((await ask('developer', 'DELETE', named(name))).status).toBe(204)
})

test('the list is sorted, searched and paged with totals', async () => {
  for (const name of ['list/one', 'list/two', 'list/three', 'List-exact', 'LIST']) {
    expect((await create('developer', name, commits.first)).status).toBe(201)
  }
  const sorted = await ask('developer', 'GET', path('?search=list/'))
  expect(namesOf(sorted)).toEqual(['list/one', 'list/three', 'list/two'])
  expect(namesOf(await ask('developer', 'GET', path('?search=list')))[0]).toBe('LIST')
  expect(namesOf(await ask('developer', 'GET', path('?search=%5Elist/t')))).toEqual([
    'list/three',
    'list/two',
  ])
  expect(namesOf(await ask('developer', 'GET', path('?search=e%24&per_page=100')))).toContain('list/one')
  const page = await ask('developer', 'GET', path('?search=list/&per_page=2&page=2'))
  expect(namesOf(page)).toEqual(['list/two'])
  expect(page.headers.get('x-total')).toBe('3')
  expect(page.headers.get('x-total-pages')).toBe('2')
  const updated = namesOf(await ask('developer', 'GET', path('?sort=updated_desc&per_page=100')))
  expect(updated.indexOf('main')).toBeLessThan(updated.indexOf('list/one'))
  for (const name of ['list/one', 'list/two', 'list/three', 'List-exact', 'LIST']) {
    expect((await ask('developer', 'DELETE', named(name))).status).toBe(204)
  }
})

test('a branch is created from a branch, a tag or a hash, and webhooks receive the push', async () => {
  for (const [index, ref] of ['main', 'feature/x.y', commits.second, commits.second.slice(0, 10)].entries()) {
    const { status, body } = await create('developer', `made-${index}`, ref)
    expect(status).toBe(201)
    expect(body.commit.id).toBe(await work.git('rev-parse', ref))
  }
  await work.git('fetch', '--quiet', harness.remote('developer', project), 'made-0')
  expect(await work.git('rev-parse', 'FETCH_HEAD')).toBe(await work.git('rev-parse', 'main'))
})

test('invalid names and starts are refused in the words of GitLab and create nothing', async () => {
  const before = (await ask('developer', 'GET', path())).headers.get('x-total')
  const refused = async (branch: string, ref = 'main') => {
    const { status, body } = await create('developer', branch, ref)
    expect(status).toBe(400)
    return body.message ?? body.error
  }
  expect(await refused('main')).toBe('Branch already exists')
  expect(await refused('main/below')).toMatch(/Branch name is invalid$/)
  expect(await refused('a b')).toBe('Branch name is invalid')
  expect(await refused('-option')).toBe('Branch name is invalid')
  expect(await refused('refs/heads/x')).toBe('Branch name is invalid')
  expect(await refused('f'.repeat(40))).toBe(
    'You cannot create a branch with a SHA-1 or SHA-256 branch name.',
  )
  expect(await refused('ABCDEF'.padEnd(40, '0'))).toMatch(/SHA-1 or SHA-256 branch name/)
  expect(await refused('new', 'nowhere')).toBe(
    "Failed to create branch 'new': invalid reference name 'nowhere'",
  )
  expect(await refused('new', '--all')).toBe("Failed to create branch 'new': invalid reference name '--all'")
  expect(await refused(' ')).toBe('branch is empty')
  expect((await ask('developer', 'POST', path(), {})).body.error).toBe('branch is missing, ref is missing')
  expect((await ask('developer', 'GET', path('?sort=odd'))).body.error).toBe(
    'sort does not have a valid value',
  )
  expect((await ask('developer', 'GET', path(`?search=${'x'.repeat(2000)}`))).status).toBe(400)
  expect((await ask('developer', 'GET', path())).headers.get('x-total')).toBe(before)
})

test('a branch that the default branch contains is merged, and one on the same commit is not', async () => {
  await create('developer', 'old', `${await work.git('rev-parse', 'main')}~1`)
  await create('developer', 'same', 'main')
  expect((await ask('developer', 'GET', named('old'))).body.merged).toBe(true)
  expect((await ask('developer', 'GET', named('same'))).body.merged).toBe(false)
})

test('merged branches are deleted together; protected, unmerged and default ones stay', async () => {
  await create('developer', 'kept-merged', `${await work.git('rev-parse', 'main')}~1`)
  await ask('owner', 'POST', `/projects/${project.id}/protected_branches`, { name: 'kept-*' })
  const url = `/projects/${project.id}/repository/merged_branches`
  expect(await ask('reporter', 'DELETE', url)).toMatchObject({ status: 403 })
  const { status, body } = await ask('developer', 'DELETE', url)
  expect([status, body]).toEqual([202, { message: '202 Accepted' }])
  expect((await ask('developer', 'GET', named('old'))).status).toBe(404)
  const left = namesOf(await ask('developer', 'GET', path('?per_page=100')))
  expect(left).toEqual(expect.arrayContaining(['main', 'kept-merged', 'same', 'feature/x.y']))
})

test('protected branches are created, moved and deleted by role', async () => {
  const protectedName = 'release/1'
  await ask('owner', 'POST', `/projects/${project.id}/protected_branches`, { name: 'release/*' })
  expect((await create('developer', protectedName, 'main')).body.message).toBe(
    'You are not allowed to create protected branches on this project.',
  )
  expect((await create('owner', protectedName, 'main')).body).toMatchObject({ protected: true })
  const refused = await ask('developer', 'DELETE', named(protectedName))
  expect(refused.status).toBe(403)
  expect(refused.body.message).toMatch(/not allowed to delete protected branches/)
  expect((await ask('owner', 'DELETE', named(protectedName))).status).toBe(204)
  expect((await ask('owner', 'DELETE', named(protectedName))).body.message).toBe('404 Branch Not Found')
  expect((await ask('owner', 'DELETE', named('main'))).body.message).toBe(
    'The default branch of a project cannot be deleted.',
  )
})

test('a branch that has changed since the caller read it is not deleted', async () => {
  await create('developer', 'conditional', 'main')
  const headers = {
    'PRIVATE-TOKEN': harness.tokens.developer,
    'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT',
  }
  const response = await fetch(`${harness.baseUrl}/api/v4${named('conditional')}`, {
    method: 'DELETE',
    headers,
  })
  expect(response.status).toBe(412)
  expect((await ask('developer', 'GET', named('conditional'))).status).toBe(200)
})

test('parallel creations of one name create one branch', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => create('developer', 'race', 'main')))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(400)])
})

test('branches need the right to read or to change them', async () => {
  expect((await ask('anonymous', 'GET', path())).status).toBe(404)
  expect((await ask('stranger', 'GET', named('main'))).status).toBe(404)
  expect((await ask('guest', 'GET', path())).status).toBe(403)
  expect((await ask('reporter', 'POST', path(), { branch: 'x', ref: 'main' })).status).toBe(403)
  expect((await ask('anonymous', 'POST', path(), { branch: 'x', ref: 'main' })).status).toBe(401)
  expect((await ask('reporter', 'DELETE', named('main'))).status).toBe(403)
  expect((await ask('developer', 'GET', named('none'))).body.message).toBe('404 Branch Not Found')
  expect((await ask('developer', 'GET', named('a..b'))).body.message).toBe('The branch refname is invalid')
})

test('an empty repository has no branches', async () => {
  const empty = await harness.project()
  expect(await ask('developer', 'GET', path('', empty))).toMatchObject({ status: 200, body: [] })
})

test('a branch is protected at its own address, changed there and unprotected again', async () => {
  const rule = async () => {
    const protection = `/projects/${project.id}/protected_branches/main`
    const { status, body } = await ask('owner', 'GET', protection)
    const levels = (given: { access_level: number }[]) => given.map(({ access_level }) => access_level)
    return status === 200 ? [levels(body.push_access_levels), levels(body.merge_access_levels)] : status
  }
  const put = (verb: string, body: object = {}, who: Who = 'owner', name = 'main') =>
    ask(who, 'PUT', `${named(name)}/${verb}`, body)
  const shown = { name: 'main', protected: true, developers_can_push: false, developers_can_merge: true }
  expect(await put('protect', { developers_can_merge: true })).toMatchObject({ status: 200, body: shown })
  expect(await rule()).toEqual([[40], [30]])
  expect((await put('protect', { developers_can_push: 'true' })).body).toMatchObject({
    developers_can_push: true,
  })
  expect(await rule()).toEqual([[30], [30]])
  for (const _again of [1, 2]) {
    const free = { name: 'main', protected: false }
    expect(await put('unprotect')).toMatchObject({ status: 200, body: free })
  }
  expect(await rule()).toBe(404)
  for (const verb of ['protect', 'unprotect']) {
    const atOnce = await Promise.all([1, 2, 3, 4].map(() => put(verb)))
    expect(atOnce.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  }

  for (const verb of ['protect', 'unprotect']) {
    const status = async (who: Who) => (await put(verb, {}, who)).status
    expect([await status('anonymous'), await status('stranger'), await status('developer')]).toEqual([
      401, 404, 403,
    ])
    expect((await put(verb, {}, 'owner', 'no/such')).status).toBe(404)
    expect((await put(verb, {}, 'owner', 'a..b')).status).toBe(400)
  }
  expect((await put('protect', { developers_can_push: 'maybe' })).status).toBe(400)
})
