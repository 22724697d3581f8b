import { request } from 'node:http'
import type { Project } from '@switchyard/db'
import { accessLevels } from '@switchyard/domain/access'
import { holdsWithinASecond, type TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>
let base: string

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
  base = `/projects/${project.id}/repository/commits`
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const get = (path: string, who: Parameters<GitHarness['send']>[0] = 'reporter') =>
  harness.send(who, 'GET', path)
const idsOf = async (response: Response) => ((await response.json()) as { id: string }[]).map(({ id }) => id)
const encoded = encodeURIComponent

test('the list shows the default branch, newest first, with every field in order', async () => {
  const response = await get(base)
  expect(response.status).toBe(200)
  const list = (await response.json()) as Record<string, unknown>[]
  expect(list.map(({ id }) => id)).toEqual([commits.third, commits.second, commits.first])
  expect(Object.entries(list[2] ?? {})).toEqual(
    Object.entries({
      id: commits.first,
      short_id: commits.first.slice(0, 8),
      title: 'First',
      message: 'First\n\nBody line\n\nSigned-off-by: Someone <s@example.com>\n',
      author_name: 'Jörg Ä',
      author_email: 'jorg@example.com',
      authored_date: '2026-01-01T10:00:00.000+05:30',
      committer_name: 'Test Committer',
      committer_email: 'committer@example.com',
      committed_date: '2026-01-01T10:00:00.000+05:30',
      created_at: '2026-01-01T10:00:00.000+05:30',
      parent_ids: [],
      trailers: { 'Signed-off-by': 'Someone <s@example.com>' },
      web_url: `${harness.baseUrl}/${project.pathWithNamespace}/-/commit/${commits.first}`,
    }),
  )
  expect(list[1]).toMatchObject({
    committed_date: '2026-01-02T00:00:00.000+00:00',
    parent_ids: [commits.first],
  })
})

test('a user who loses the right to read is refused within a second; a user who gains it is admitted at once', async () => {
  const other = await harness.project()
  const path = `/projects/${other.id}/repository/commits`
  expect((await get(path, 'stranger')).status).toBe(404)
  const { id: userId } = (await (await harness.send('stranger', 'GET', '/user')).json()) as { id: number }
  const member = { projectId: other.id, userId, accessLevel: accessLevels.reporter }
  await harness.database.prisma.projectMember.create({ data: member })
  expect((await get(path, 'stranger')).status).toBe(200)
  await harness.database.prisma.projectMember.deleteMany({ where: { projectId: other.id, userId } })
  await holdsWithinASecond(async () => (await get(path, 'stranger')).status === 404)
})

test('pages carry all headers, totals included', async () => {
  const response = await get(`${base}?per_page=2&page=1`)
  expect(await idsOf(response)).toEqual([commits.third, commits.second])
  const headers = ['X-Total', 'X-Total-Pages', 'X-Per-Page', 'X-Page', 'X-Next-Page', 'X-Prev-Page']
  expect(headers.map((name) => response.headers.get(name))).toEqual(['3', '2', '2', '1', '2', ''])
  expect(response.headers.get('Link')).toContain('rel="next"')
  expect(await idsOf(await get(`${base}?per_page=2&page=2`))).toEqual([commits.first])
  expect(await idsOf(await get(`${base}?page=9`))).toEqual([])
  // git would read a number of this size as negative.
  expect(await idsOf(await get(`${base}?page=214748366&per_page=100&since=2000-01-01T00:00:00Z`))).toEqual([])
})

test.each([
  ['ref_name=feature%2Fx.y', ['side', 'second', 'first']],
  ['ref_name=v1.0', ['second', 'first']],
  ['ref_name=', ['third', 'second', 'first']],
  ['ref_name=unknown', []],
  ['ref_name=main..v1.0', []],
  ['ref_name=main@{1}', []],
  ['all=true', ['third', 'side', 'second', 'first']],
  ['since=2026-01-02T00:00:00Z', ['third', 'second']],
  ['until=2026-01-02T00:00:00Z', ['second', 'first']],
  ['since=2026-01-02T00:00:01Z&until=2026-01-03T00:00:00Z', []],
  ['path=README.md', ['third', 'first']],
  ['path=src/b%20c.txt', ['second', 'first']],
  ['path=/src', ['second', 'first']],
  ['path=src/*', []],
  ['path=--help', []],
  ['author=JORG@', ['first']],
  ['author=--all', []],
  ['search=rename%20AND', ['second']],
  ['search=--all', []],
  ['search=.*', []],
  ['search=body%20line&author=jorg', ['first']],
  ['search=rename&author=jorg', []],
  ['search=first&path=README.md', ['first']],
  ['first_parent=true&order=topo', ['third', 'second', 'first']],
] as const)('list with %s', async (query, expected) => {
  const response = await get(`${base}?${query}`)
  expect(response.status).toBe(200)
  expect(await idsOf(response)).toEqual(expected.map((name) => commits[name]))
  expect(response.headers.get('X-Total')).toBe(String(expected.length))
})

test('the list counts lines on request', async () => {
  const list = (await (await get(`${base}?with_stats=true`)).json()) as Record<string, unknown>[]
  expect(list[1]).toMatchObject({ stats: { additions: 1, deletions: 0, total: 1 } })
})

test.each([
  ['ref_name=--upload-pack%3Dtouch%20x', { message: 'ref_name is invalid' }],
  ['ref_name=a%20b', { message: 'ref_name is invalid' }],
  ['since=soon', { error: 'since is invalid' }],
  ['page=0', { error: 'page does not have a valid value' }],
  ['order=random', { error: 'order does not have a valid value' }],
])('list with %s is refused', async (query, body) => {
  const response = await get(`${base}?${query}`)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject(body)
})

test('a lone slash is the path of the whole repository', async () => {
  const [all, below] = await Promise.all([get(base), get(`${base}?path=${encoded('//')}`)])
  expect([below.status, await below.json()]).toEqual([200, await all.json()])
})

test('an empty repository has no commits', async () => {
  const empty = await harness.project()
  const response = await get(`/projects/${empty.id}/repository/commits`)
  expect([response.status, await response.json(), response.headers.get('X-Total')]).toEqual([200, [], '0'])
})

test.each(['main', 'HEAD', 'refs/heads/main', 'feature/x.y', 'v1.0', 'main~1', 'HEAD^'])(
  'one commit by %s',
  async (revision) => {
    const expected = await work.git('rev-parse', revision)
    const response = await get(`${base}/${encoded(revision)}`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ id: expected })
  },
)

test('one commit by full and short hash has stats, status and project', async () => {
  for (const sha of [commits.second, commits.second.slice(0, 7)]) {
    const response = await get(`${base}/${sha}`)
    expect(await response.json()).toMatchObject({
      id: commits.second,
      stats: { additions: 1, deletions: 0, total: 1 },
      status: null,
      project_id: project.id,
    })
  }
  expect(await (await get(`${base}/${commits.second}?stats=false`)).json()).not.toHaveProperty('stats')
  const root = await (await get(`${base}/${commits.first}`)).json()
  expect(root).toMatchObject({ stats: { additions: 6, deletions: 0, total: 6 } })
})

test.each([
  'unknown',
  'f'.repeat(40),
  '--help',
  '--output=/tmp/switchyard-injected',
  'main..v1.0',
  'main@{0}',
  'main:README.md',
  ':/First',
  '^main',
  'a b',
  'main\u0001',
  'v1.0^{tree}',
  'a..b',
])('%s names no commit', async (revision) => {
  for (const suffix of ['', '/diff', '/statuses']) {
    const response = await get(`${base}/${encoded(revision)}${suffix}`)
    expect([response.status, await response.json()]).toMatchObject([404, { message: '404 Commit Not Found' }])
  }
})

test('a NUL in the path is refused', async () => {
  expect((await get(`${base}/main%00`)).status).toBe(400)
})

test('the diff shows renames, binaries and modes', async () => {
  const response = await get(`${base}/${commits.second}/diff`)
  expect(response.status).toBe(200)
  const [binary, renamed] = (await response.json()) as Record<string, unknown>[]
  expect(Object.keys(binary ?? {})).toEqual([
    'diff',
    'new_path',
    'old_path',
    'a_mode',
    'b_mode',
    'new_file',
    'renamed_file',
    'deleted_file',
    'too_large',
    'collapsed',
    'generated_file',
  ])
  expect(binary).toMatchObject({ diff: 'Binary files a/bin.dat and b/bin.dat differ\n', a_mode: '100644' })
  expect(renamed).toMatchObject({
    diff: '@@ -3,3 +3,4 @@ two\n three\n four\n five\n+six\n',
    old_path: 'src/a.txt',
    new_path: 'src/b c.txt',
    renamed_file: true,
    new_file: false,
    too_large: false,
  })
})

test('a root commit is compared with the empty tree, and a missing side has mode 0', async () => {
  const root = (await (await get(`${base}/${commits.first}/diff`)).json()) as Record<string, unknown>[]
  expect(root.map(({ new_path, a_mode, new_file }) => [new_path, a_mode, new_file])).toEqual([
    ['README.md', '0', true],
    ['bin.dat', '0', true],
    ['src/a.txt', '0', true],
  ])
  const [deleted] = (await (await get(`${base}/main/diff?unidiff=true`)).json()) as Record<string, unknown>[]
  expect(deleted).toMatchObject({
    deleted_file: true,
    b_mode: '0',
    diff: '--- a/README.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-# Sample\n',
  })
})

test('a diff has pages only on request', async () => {
  expect((await get(`${base}/${commits.first}/diff`)).headers.get('X-Total')).toBe(null)
  const page = await get(`${base}/${commits.first}/diff?per_page=1&page=2`)
  expect(page.headers.get('X-Total')).toBe('3')
  expect(await page.json()).toMatchObject([{ new_path: 'bin.dat' }])
})

test('diffs of merges, links, type changes, odd names and large files equal the output of git', async () => {
  const hard = await harness.project()
  const { symlink, rm } = await import('node:fs/promises')
  await symlink('README.md', `${work.path}/link`)
  await work.commit({ files: { 'new\nline "q" é.txt': 'x\n', 'crlf.txt': 'a\r\nb', 'empty.txt': '' } })
  await rm(`${work.path}/link`)
  const typeChange = await work.commit({
    files: { link: 'now a file\n', 'big.txt': 'line\n'.repeat(400_000) },
  })
  await work.git('-c', 'user.name=m', '-c', 'user.email=m@x', 'merge', '--quiet', '--no-edit', 'feature/x.y')
  const merge = await work.git('rev-parse', 'HEAD')
  await work.git('push', '--quiet', harness.remote('owner', hard), '--all')
  const diffOf = async (id: string) =>
    (await (await get(`/projects/${hard.id}/repository/commits/${id}/diff`)).json()) as Record<
      string,
      unknown
    >[]

  expect(await diffOf(merge)).toMatchObject([
    { new_path: 'side.txt', diff: '@@ -0,0 +1 @@\n+side\n\\ No newline at end of file\n' },
  ])
  const changed = await diffOf(typeChange)
  expect(
    changed.map(({ new_path, a_mode, b_mode, too_large }) => [new_path, a_mode, b_mode, too_large]),
  ).toEqual([
    ['big.txt', '0', '100644', true],
    ['link', '120000', '0', false],
    ['link', '0', '100644', false],
  ])
  expect(changed[0]).toMatchObject({ diff: '' })
  const odd = await diffOf(`${typeChange}~1`.replace('~', '%7E'))
  expect(odd.map(({ new_path, diff }) => [new_path, diff])).toEqual([
    ['crlf.txt', '@@ -0,0 +1,2 @@\n+a\r\n+b\n\\ No newline at end of file\n'],
    ['empty.txt', ''],
    ['link', '@@ -0,0 +1 @@\n+README.md\n\\ No newline at end of file\n'],
    ['new\nline "q" é.txt', '@@ -0,0 +1 @@\n+x\n'],
  ])
})

test('the project may be addressed by its path, including dots', async () => {
  const dotted = await pushSample(harness, { path: 'my.dotted.project' })
  const response = await get(
    `/projects/${encoded(dotted.project.pathWithNamespace)}/repository/commits/${encoded('feature/x.y')}`,
  )
  expect(await response.json()).toMatchObject({ id: dotted.commits.side, project_id: dotted.project.id })
  await dotted.work.close()
})

test.each(['', '/main', '/main/diff'])('reading commits%s asks for the right role', async (path) => {
  expect((await get(base + path, 'anonymous')).status).toBe(404)
  expect((await get(base + path, 'stranger')).status).toBe(404)
  expect((await get(base + path, 'guest')).status).toBe(403)
  expect((await get(base + path, 'narrow')).status).toBe(403)
  expect((await get(`/projects/999999/repository/commits${path}`)).status).toBe(404)
})

/** Sends a GET that fetch cannot send: with a body, or for another host. */
function rawGet(path: string, { host, body = '' }: { host?: string; body?: string }) {
  const headers = {
    'PRIVATE-TOKEN': harness.tokens.reporter,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...(host && { Host: host }),
  }
  return new Promise<{ link: string; items: Record<string, unknown>[] }>((resolve, reject) => {
    request(`${harness.baseUrl}/api/v4${path}`, { headers }, async (response) => {
      const items = JSON.parse(Buffer.concat(await response.toArray()).toString())
      resolve({ link: String(response.headers.link), items })
    })
      .once('error', reject)
      .end(body)
  })
}

test('cached answers are used only for the same request', async () => {
  const plain = await rawGet(base, {})
  expect(await rawGet(base, {})).toEqual(plain)
  const one = await rawGet(base, { body: '{"per_page": 1}' })
  expect(one.items).toEqual(plain.items.slice(0, 1))
  const elsewhere = await rawGet(base, { host: 'git.example.com' })
  expect(elsewhere.link).toContain('<http://git.example.com/api/v4/')
  expect(elsewhere.items[0]?.web_url).toMatch(/^http:\/\/git\.example\.com\//)
  expect(await rawGet(base, {})).toEqual(plain)

  const diff = `${base}/${commits.first}/diff`
  const [whole, unified] = [await rawGet(diff, {}), await rawGet(`${diff}?unidiff=true`, {})]
  expect(unified.items).not.toEqual(whole.items)
  expect((await rawGet(diff, { body: '{"unidiff": true}' })).items).toEqual(unified.items)
})

test('an unchanged answer is 304', async () => {
  const response = await get(`${base}/main`)
  const etag = response.headers.get('ETag') ?? ''
  const again = await fetch(`${harness.baseUrl}/api/v4${base}/main`, {
    headers: { 'PRIVATE-TOKEN': harness.tokens.reporter, 'If-None-Match': etag },
  })
  expect(again.status).toBe(304)
})

test('a project whose repository is gone is answered with 404', async () => {
  const gone = await harness.project()
  const { rm } = await import('node:fs/promises')
  await rm(harness.pathOf(gone), { recursive: true })
  const response = await get(`/projects/${gone.id}/repository/commits`)
  expect([response.status, await response.json()]).toMatchObject([
    404,
    { message: '404 Repository Not Found' },
  ])
})
