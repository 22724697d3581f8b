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

const path = (rest = '', of = project) => `/projects/${of.id}/repository/tags${rest}`
const named = (name: string) => path(`/${encodeURIComponent(name)}`)

const ask: GitHarness['ask'] = (...request) => harness.ask(...request)

const create = (who: Who, tag_name: string, ref: string, message?: string) =>
  ask(who, 'POST', path(), { tag_name, ref, message })
const namesOf = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name)

test('a lightweight tag points to its commit', async () => {
  const { status, body } = await create('developer', 'light/1', 'main')
  expect(status).toBe(201)
  expect(Object.keys(body)).toEqual([
    'name',
    'message',
    'target',
    'commit',
    'release',
    'protected',
    'created_at',
  ])
  expect(body).toMatchObject({ name: 'light/1', message: '', release: null, created_at: null })
  expect(body.target).toBe(body.commit.id)
})

test('a message creates an annotated tag with the caller as tagger', async () => {
  const { status, body } = await create('developer', 'noted', commits.second, '  Ünïcode\n\nMore  \n')
  expect(status).toBe(201)
  expect(body.message).toBe('Ünïcode\n\nMore')
  expect(body.target).not.toBe(body.commit.id)
  expect(body.commit.id).toBe(commits.second)
  expect(Date.parse(body.created_at)).toBeGreaterThan(Date.now() - 60_000)
  await work.git('fetch', '--quiet', harness.remote('developer', project), 'refs/tags/*:refs/tags/*')
  expect(await work.git('rev-parse', 'noted')).toBe(body.target)
  const format = '--format=%(objecttype) %(taggername) %(contents:subject)'
  expect(await work.git('for-each-ref', format, 'refs/tags/noted')).toBe('tag Dora Developer Ünïcode')
  await work.git('fsck', '--strict')
  expect((await ask('reporter', 'GET', named('noted'))).body).toEqual(body)
})

test('tags are sorted by time, name and version, searched and paged with totals', async () => {
  for (const version of ['w1.9', 'w1.10', 'w1.2']) await create('developer', version, commits.first)
  const found = async (query: string) =>
    namesOf(await ask('developer', 'GET', path(`?search=%5Ew1&${query}`)))
  expect(await found('order_by=version&sort=asc')).toEqual(['w1.2', 'w1.9', 'w1.10'])
  expect(await found('order_by=name&sort=asc')).toEqual(['w1.10', 'w1.2', 'w1.9'])
  expect(await found('order_by=name')).toEqual(['w1.9', 'w1.2', 'w1.10'])
  expect(await found('regex=%5Ew1.*0%24')).toEqual(['w1.10'])
  expect((await ask('developer', 'GET', path('?regex=%5B'))).body.message).toBe('Regex is invalid')
  const page = await ask('developer', 'GET', path('?search=w1&per_page=2&page=2'))
  expect(page.body).toHaveLength(1)
  expect(page.headers.get('x-total')).toBe('3')
  const all = namesOf(await ask('developer', 'GET', path('?per_page=100')))
  expect(all[0]).toBe('noted')
})

test('invalid names and starts are refused in the words of GitLab', async () => {
  const refused = async (name: string, ref = 'main') => {
    const { status, body } = await create('developer', name, ref)
    expect(status).toBe(400)
    return body.message ?? body.error
  }
  await create('developer', 'twice', 'main')
  expect(await refused('twice')).toBe('Tag twice already exists')
  expect(await refused('a b')).toBe('Tag name invalid')
  expect(await refused('-d')).toBe('Tag name invalid')
  expect(await refused('main')).toBe('You cannot use default branch name to create a tag')
  expect(await refused('f'.repeat(40))).toBe('You cannot create a tag with a SHA-1 or SHA-256 tag name.')
  expect(await refused('new', 'nope')).toBe('Target nope is invalid')
  expect(await refused('twice/below')).toMatch(/name is invalid|Tag name invalid/)
  expect((await ask('developer', 'POST', path(), {})).body.error).toBe('tag_name is missing, ref is missing')
})

test('a tag is deleted once', async () => {
  await create('developer', 'gone', 'main')
  const headers = {
    'PRIVATE-TOKEN': harness.tokens.developer,
    'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT',
  }
  const stale = await fetch(`${harness.baseUrl}/api/v4${named('gone')}`, { method: 'DELETE', headers })
  expect(stale.status).toBe(412)
  expect((await ask('developer', 'DELETE', named('gone'))).status).toBe(204)
  expect(await ask('developer', 'DELETE', named('gone'))).toMatchObject({
    status: 404,
    body: { message: '404 Tag Not Found' },
  })
  expect((await ask('developer', 'GET', named('..'))).status).toBe(404)
})

test('a tag of a file or a folder is listed without a commit', async () => {
  await work.git('tag', 'of-a-tree', 'main^{tree}')
  await work.git('push', '--quiet', harness.remote('developer', project), 'of-a-tree')
  expect((await ask('developer', 'GET', named('of-a-tree'))).body).toMatchObject({ commit: null })
})

test('tags need the right to read or to change them', async () => {
  expect((await ask('anonymous', 'GET', path())).status).toBe(404)
  expect((await ask('stranger', 'GET', path())).status).toBe(404)
  expect((await ask('guest', 'GET', named('noted'))).status).toBe(403)
  expect((await create('reporter', 'x', 'main')).status).toBe(403)
  expect((await create('anonymous', 'x', 'main')).status).toBe(401)
  expect((await ask('reporter', 'DELETE', named('noted'))).status).toBe(403)
})

test('an empty repository has no tags', async () => {
  const empty = await harness.project()
  expect(await ask('developer', 'GET', path('', empty))).toMatchObject({ status: 200, body: [] })
})
