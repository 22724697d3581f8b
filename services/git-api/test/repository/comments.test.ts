import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
/** The second commit renames `old name.txt` (two lines) to `new name.txt` and adds a third line. */
let commits: { first: string; second: string }

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work } = await pushSample(harness))
  await work.git('switch', '--quiet', '--create', 'talk')
  const text = 'one\ntwo\nthree, which is long enough to be recognised\n'
  const first = await work.commit({ branch: 'talk', files: { 'old name.txt': text, 'b.bin': 'a\0b\n' } })
  const second = await work.commit({
    branch: 'talk',
    files: { 'old name.txt': null, 'new name.txt': `${text}four` },
  })
  commits = { first, second }
  await work.git('push', '--quiet', harness.remote('owner', project), 'talk')
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

type Who = Parameters<GitHarness['send']>[0]
interface Comment {
  id: number
  note: string
  path: string | null
  line: number | null
  line_type: string | null
  author: { username: string }
}

const pathOf = (sha: string, of = project) =>
  `/projects/${of.id}/repository/commits/${encodeURIComponent(sha)}/comments`
const post = (sha: string, body: unknown, who: Who = 'developer') =>
  harness.send(who, 'POST', pathOf(sha), body)
const posted = async (sha: string, body: unknown) => {
  const response = await post(sha, body)
  expect(response.status).toBe(201)
  return (await response.json()) as Comment
}
const placeOf = ({ path, line, line_type }: Comment) => [path, line, line_type]
const nowhere = [null, null, null]

test('a comment on a path of any length is stored without a position, and further requests are answered', async () => {
  const path = `a${'/'.repeat(100_000)}a`
  for (const lineType of ['new', 'old']) {
    const place = { note: 'Long', path, line: 1, line_type: lineType }
    expect(placeOf(await posted('talk', place))).toEqual(nowhere)
  }
  expect(placeOf(await posted('talk', { note: 'Long', path: 'a/'.repeat(100_000), line: 1 }))).toEqual(
    nowhere,
  )
})

test('a comment has the same keys in the list and in the answer to a post', async () => {
  const comment = await posted('talk', { note: 'Nice picture man' })
  expect(Object.keys(comment)).toEqual(['id', 'note', 'path', 'line', 'line_type', 'author', 'created_at'])
  expect(comment).toMatchObject({ note: 'Nice picture man', author: { username: 'dora', state: 'active' } })
  expect(Object.keys(comment.author)).toEqual(
    expect.arrayContaining(['id', 'email', 'name', 'created_at', 'web_url', 'avatar_url']),
  )
  const listed = await harness.send('reporter', 'GET', pathOf('talk'))
  expect(await listed.json()).toContainEqual(comment)
})

test('a comment can be on any line of the file, changed or not', async () => {
  const on = async (path: string, line: number | string, line_type?: string) =>
    placeOf(await posted(commits.second, { note: 'n', path, line, ...(line_type && { line_type }) }))
  expect(await on('new name.txt', 1, 'new')).toEqual(['new name.txt', 1, 'new'])
  expect(await on('new name.txt', '4')).toEqual(['new name.txt', 4, 'new'])
  expect(await on('old name.txt', 3, 'old')).toEqual(['old name.txt', 3, 'old'])
  expect(await on('new name.txt', 3, 'old')).toEqual(['new name.txt', 3, 'old'])
})

test('without such a line, the comment is about the commit', async () => {
  const places = [
    { path: 'new name.txt', line: 5 },
    { path: 'new name.txt', line: 0 },
    { path: 'new name.txt', line: -1 },
    { path: 'new name.txt', line: 4, line_type: 'old' },
    { path: 'old name.txt', line: 1 },
    { path: 'missing.txt', line: 1 },
    { path: 'b.bin', line: 1 },
    { path: '../../config', line: 1 },
    { path: ' ' },
    { line: 3 },
  ]
  for (const place of places)
    expect(placeOf(await posted(commits.second, { note: 'n', ...place }))).toEqual(nowhere)
  expect(
    placeOf(await posted(commits.first, { note: 'n', path: 'b.bin', line: 1, line_type: 'old' })),
  ).toEqual(nowhere)
})

test('fields are accepted as a form, multipart or plain, in the query or as JSON', async () => {
  const fields = { note: 'by form', path: 'new name.txt', line: '2', line_type: 'new' }
  const url = `${harness.baseUrl}/api/v4${pathOf(commits.second)}`
  const headers = { 'PRIVATE-TOKEN': harness.tokens.developer }
  const multipart = new FormData()
  for (const [name, value] of Object.entries(fields)) multipart.set(name, value)
  const answers = [
    await fetch(url, { method: 'POST', headers, body: new URLSearchParams(fields) }),
    await fetch(url, { method: 'POST', headers, body: multipart }),
    await fetch(`${url}?${new URLSearchParams(fields)}`, { method: 'POST', headers }),
  ]
  for (const answer of answers) {
    expect(answer.status).toBe(201)
    expect(placeOf((await answer.json()) as Comment)).toEqual(['new name.txt', 2, 'new'])
  }
})

test('comments are listed oldest first, with totals, for the commit of a name', async () => {
  const sha = await work.commit({ branch: 'talk' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'talk')
  for (const note of ['one', 'two', 'three']) await posted('talk', { note })
  const response = await harness.send('reporter', 'GET', `${pathOf(sha)}?per_page=2&page=2`)
  expect(((await response.json()) as Comment[]).map(({ note }) => note)).toEqual(['three'])
  expect(response.headers.get('x-total')).toBe('3')
})

test('comments and their commit outlive the branch', async () => {
  const sha = await work.commit({ branch: 'short-lived' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'short-lived')
  await posted('short-lived', { note: 'kept' })
  await work.git('push', '--quiet', harness.remote('owner', project), ':short-lived')
  await work.git('--git-dir', harness.pathOf(project), 'gc', '--quiet', '--prune=now')
  const response = await harness.send('reporter', 'GET', pathOf(sha))
  expect(((await response.json()) as Comment[]).map(({ note }) => note)).toEqual(['kept'])
  const advertised = await work.git('ls-remote', harness.remote('owner', project))
  expect(advertised).not.toContain('keep-around')
  const all = await harness.send('reporter', 'GET', `/projects/${project.id}/repository/commits?all=true`)
  expect(((await all.json()) as { id: string }[]).map(({ id }) => id)).not.toContain(sha)
})

test('empty form fields count as missing', async () => {
  const empty = { note: 'n', path: '', line: '', line_type: '' }
  expect(placeOf(await posted(commits.second, empty))).toEqual([null, null, null])
})

test('bad input is refused in the words of GitLab and stores nothing', async () => {
  const sha = await work.commit({ branch: 'quiet' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'quiet')
  const refused = async (body: unknown) => {
    const response = await post('quiet', body)
    expect(response.status).toBe(400)
    return (await response.json()) as { error?: string; message?: string }
  }
  expect(await refused({})).toMatchObject({ error: 'note is missing' })
  expect(await refused({ note: ' \n' })).toMatchObject({ message: "400 Bad request - Note can't be blank" })
  expect(await refused({ note: 'n', path: 'a' })).toMatchObject({ error: 'line is missing' })
  expect(await refused({ note: 'n', path: 'a', line: '' })).toMatchObject({ error: 'line is missing' })
  expect(await refused({ note: 'n', path: 'a', line: 'x' })).toMatchObject({ error: 'line is invalid' })
  expect(await refused({ note: 'n', path: 'a', line: 1, line_type: 'both' })).toMatchObject({
    error: 'line_type does not have a valid value',
  })
  expect(await (await harness.send('reporter', 'GET', pathOf(sha))).json()).toEqual([])
})

test('comments need the right to read the code and a known user', async () => {
  const status = async (who: Who, method: 'GET' | 'POST') =>
    (await harness.send(who, method, pathOf('talk'), method === 'POST' ? { note: 'n' } : undefined)).status
  expect(await status('reporter', 'POST')).toBe(201)
  expect(await status('guest', 'POST')).toBe(403)
  expect(await status('guest', 'GET')).toBe(403)
  expect(await status('stranger', 'POST')).toBe(404)
  expect(await status('anonymous', 'POST')).toBe(401)
  expect(await status('readsRepository', 'POST')).toBe(403)
  expect((await post('no-such-commit', { note: 'n' })).status).toBe(404)
  expect((await harness.send('reporter', 'GET', pathOf('no-such-commit'))).status).toBe(404)
})
