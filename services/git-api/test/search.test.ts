import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work } = await pushSample(harness))
  await work.commit({
    files: {
      'docs/Guide.md': `${[...lines(3), 'The Needle is here', ...lines(9), 'needle again'].join('\n')}\n`,
      'docs/odd\nname -1-.txt': '--\nneedle\n--\n',
      'bin/needle.bin': Buffer.from('\0needle\n'),
      '-f': '$(touch /tmp/never) `needle`',
      'long.txt': `${'x'.repeat(5000)} far\n`,
    },
    message: 'Hide a Needle\n\nNowhere else.',
  })
  await work.git('push', '--quiet', harness.remote('owner', project), 'main')
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

type Who = Parameters<GitHarness['ask']>[0]

const search = (who: Who, query: Record<string, string>, of = project.id) =>
  harness.ask(who, 'GET', `/projects/${of}/search?${new URLSearchParams(query)}`)
const blobs = async (text: string, further = {}) =>
  (await search('reporter', { scope: 'blobs', search: text, ...further })).body

test('lines are found in every text file, with their context', async () => {
  const found = await blobs('nEEdle')
  expect(found).toEqual([
    expect.objectContaining({ path: '-f', data: '$(touch /tmp/never) `needle`\n', startline: 1 }),
    {
      basename: 'docs/Guide',
      data: 'line 2\nline 3\nThe Needle is here\nline 1\nline 2\n',
      path: 'docs/Guide.md',
      filename: 'docs/Guide.md',
      id: null,
      ref: 'main',
      startline: 2,
      project_id: project.id,
    },
    expect.objectContaining({ path: 'docs/Guide.md', startline: 12, data: 'line 8\nline 9\nneedle again\n' }),
    expect.objectContaining({ path: 'docs/odd\nname -1-.txt', data: '--\nneedle\n--\n' }),
    // The path of this file matches.
    expect.objectContaining({ path: 'bin/needle.bin', data: '', startline: 1 }),
  ])
  expect((await blobs('far'))[0].data).toHaveLength(1001)
})

test('a search has pages, a reference, and an empty result', async () => {
  const page = await search('reporter', { scope: 'blobs', search: 'needle', per_page: '3', page: '2' })
  expect(page.body).toHaveLength(2)
  expect([page.headers.get('x-total'), page.headers.get('x-total-pages')]).toEqual(['5', '2'])
  expect(await blobs('side', { ref: 'feature/x.y' })).toMatchObject([
    { path: 'side.txt', ref: 'feature/x.y' },
  ])
  expect(await blobs('side')).toEqual([])
  expect(await blobs('needle', { ref: 'v1.0' })).toEqual([])
})

test('files are found by their paths, and filters narrow the result', async () => {
  const paths = async (text: string) => (await blobs(text)).map(({ path }: { path: string }) => path)
  const guide = await blobs('DOCS/guide')
  expect(guide).toMatchObject([
    { path: 'docs/Guide.md', basename: 'docs/Guide', startline: 1, ref: 'main', id: null },
  ])
  expect(guide[0].data).toBe('line 1\nline 2\nline 3\nThe Needle is here\nline 1\n')
  expect(await paths('filename:guide.md')).toEqual(['docs/Guide.md'])
  expect(await paths('extension:MD')).toEqual(['docs/Guide.md'])
  expect(await paths('path:docs/')).toEqual(['docs/Guide.md', 'docs/odd\nname -1-.txt'])
  expect(await paths('filename:docs/*.md')).toEqual(['docs/Guide.md'])
  expect(await paths('needle -path:docs')).toEqual(['-f', 'bin/needle.bin'])
  expect(await paths('needle extension:md')).toEqual(['docs/Guide.md', 'docs/Guide.md'])
  expect(await paths('path:docs -extension:txt')).toEqual(['docs/Guide.md'])
  expect(await paths('needle filename:none')).toEqual([])
  for (const text of ['filename:', 'path: x', 'nope:x', 'filename:../../etc/passwd', 'path:$(touch)'])
    expect([text, await paths(text)]).toEqual([text, []])
  expect(await paths(`filename:${'*a'.repeat(500)}`)).toEqual([])
  expect(await paths('extension:"md"')).toEqual(['docs/Guide.md'])
  expect(await paths('needle path:"name -1"')).toEqual(['docs/odd\nname -1-.txt'])
  expect(await paths('path:"docs" -filename:"name -1-.txt"')).toEqual(['docs/Guide.md'])
  expect(await paths('filename:""')).toEqual([])
})

test('a text is matched literally, whatever it looks like', async () => {
  expect(await blobs('`needle`')).toHaveLength(1)
  for (const text of ['.*', '--open-files-in-pager=touch', '-e', ':(glob)**', '\\(', '\u202e', '\ud800', 'ä'])
    expect([text, await blobs(text)]).toEqual([text, []])
  expect(await blobs('$(touch')).toHaveLength(1)
})

test('commits are found by their message', async () => {
  const query = { scope: 'commits', search: 'a needle' }
  const found = await search('reporter', query)
  expect(found.body).toMatchObject([{ title: 'Hide a Needle' }])
  expect(found.headers.get('x-total')).toBe('1')
  expect((await search('reporter', { ...query, search: 'a.needle' })).body).toEqual([])
  expect((await search('reporter', { ...query, ref: 'v1.0' })).body).toEqual([])
})

test('members are found by their names', async () => {
  const found = await search('reporter', { scope: 'users', search: 'DEVELOPER' })
  expect(found.body).toMatchObject([{ username: 'dora', name: 'Dora Developer' }])
  expect(found.body[0]).not.toHaveProperty('email')
  expect((await search('reporter', { scope: 'users', search: 'stan' })).body).toEqual([])
})

test('scopes that only GitLab has are empty, and an empty project has no results', async () => {
  const issues = await search('reporter', { scope: 'issues', search: 'x' })
  expect([issues.body, issues.headers.get('x-total')]).toEqual([[], '0'])
  const empty = await harness.project({ path: 'empty' })
  for (const scope of ['blobs', 'commits'])
    expect((await search('reporter', { scope, search: 'x' }, empty.id)).body).toEqual([])
})

test('bad input is refused', async () => {
  const refusal = async (query: Record<string, string>) => {
    const { status, body } = await search('reporter', query)
    return [status, body.error ?? body.message]
  }
  expect(await refusal({ search: 'x', scope: 'wikis' })).toEqual([400, 'scope does not have a valid value'])
  expect(await refusal({ search: 'x' })).toEqual([400, 'scope is missing, scope does not have a valid value'])
  expect(await refusal({ scope: 'blobs' })).toEqual([400, 'search is missing'])
  expect(await refusal({ scope: 'blobs', search: ' ' })).toEqual([400, 'search is empty'])
  expect(await refusal({ scope: 'blobs', search: 'a\nb' })).toEqual([400, 'search has more than one line'])
  const filters = (count: number) => '-path:x '.repeat(count)
  expect(await refusal({ scope: 'blobs', search: filters(21) })).toEqual([
    400,
    'search has more than 20 path filters',
  ])
  expect((await refusal({ scope: 'blobs', search: filters(20) }))[0]).toBe(200)
  expect(await refusal({ scope: 'blobs', search: 'a\0b' })).toEqual([400, 'search is invalid'])
  expect((await refusal({ scope: 'blobs', search: 'x'.repeat(1025) }))[0]).toBe(400)
  expect(await refusal({ scope: 'blobs', search: 'x', ref: 'nope' })).toEqual([404, '404 Commit Not Found'])
  expect(await refusal({ scope: 'blobs', search: 'x', ref: '--open-files-in-pager' })).toEqual([
    404,
    '404 Commit Not Found',
  ])
  expect((await refusal({ scope: 'blobs', search: 'x', order_by: 'created_at' }))[0]).toBe(400)
  expect((await refusal({ scope: 'blobs', search: 'x', regex: 'true' }))[0]).toBe(400)
})

test('nobody finds anything that they may not see', async () => {
  const query = { scope: 'blobs', search: 'needle' }
  const status = async (who: Who) => (await search(who, query)).status
  expect([await status('anonymous'), await status('stranger'), await status('guest')]).toEqual([
    401, 404, 403,
  ])
  expect([await status('narrow'), await status('readsRepository')]).toEqual([403, 403])
  const all = (who: Who, scope: string) =>
    harness.ask(who, 'GET', `/search?scope=${scope}&search=${project.path}`)
  expect((await all('reporter', 'projects')).body).toMatchObject([{ id: project.id }])
  expect((await all('stranger', 'projects')).body).toEqual([])
  expect((await all('anonymous', 'projects')).status).toBe(401)
  expect((await all('reporter', 'issues')).body).toEqual([])
  for (const scope of ['blobs', 'commits', 'users', 'nothing'])
    expect((await all('reporter', scope)).status).toBe(400)
})
