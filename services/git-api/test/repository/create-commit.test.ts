import { randomBytes } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { createGitRepository, isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
})
afterEach(async () => {
  const { stdout, stderr } = await git('fsck', '--strict', '--no-dangling')
  expect(stdout + stderr).toBe('')
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

type Who = Parameters<GitHarness['send']>[0]
const inProject = (which: Project, ...args: string[]) =>
  execa('git', ['--git-dir', harness.pathOf(which), ...args], { env: isolatedGitEnv(), extendEnv: false })
const git = (...args: string[]) => inProject(project, ...args)
/** Returns a file's content, including its last line end. */
const show = async (revision: string) =>
  (await execa('git', ['show', revision], { cwd: harness.pathOf(project), stripFinalNewline: false })).stdout

const post = (body: object, who: Who = 'developer', id: number | string = project.id) =>
  harness.send(who, 'POST', `/projects/${id}/repository/commits`, {
    branch: 'main',
    commit_message: 'm',
    ...body,
  })
const createFile = (file_path: string, content = 'x') => ({ action: 'create', file_path, content })

let branches = 0
/** Creates a branch for one test, at the start of `main`. */
async function freshBranch(start = commits.second) {
  branches += 1
  const name = `test-${branches}`
  await git('update-ref', `refs/heads/${name}`, start)
  return name
}

test('one commit holds all actions, applied in order', async () => {
  const branch = await freshBranch()
  const response = await post({
    branch,
    commit_message: 'Many things\n\nat once',
    author_name: 'Ann Author',
    actions: [
      createFile('new/deep/file.txt', 'first'),
      { action: 'update', file_path: 'new/deep/file.txt', content: 'second\n' },
      { action: 'move', previous_path: 'src/b c.txt', file_path: 'moved/b.txt' },
      { action: 'chmod', file_path: 'moved/b.txt', execute_filemode: true },
      { action: 'upsert', file_path: 'README.md', content: '# New\r\n' },
      { action: 'upsert', file_path: 'é "odd"\n.txt', content: 'é' },
      { action: 'create', file_path: 'bytes', content: 'AP8A', encoding: 'base64' },
      { action: 'delete', file_path: 'bin.dat' },
      createFile('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = ../x.git\n'),
      createFile('src/.gitattributes', '*.txt text\n'),
    ],
  })
  const body = (await response.json()) as Record<string, unknown>
  expect([response.status, body]).toMatchObject([
    201,
    {
      title: 'Many things',
      message: 'Many things\n\nat once',
      author_name: 'Ann Author',
      author_email: 'dora@example.com',
      committer_name: 'Dora Developer',
      parent_ids: [commits.second],
      stats: { additions: 7, deletions: 1, total: 8 },
      status: null,
    },
  ])
  const id = String(body.id)
  expect((await git('rev-parse', branch)).stdout).toBe(id)
  const { stdout } = await git('ls-tree', '-r', '-z', '--format=%(objectmode) %(path)', id)
  expect(stdout.split('\0').filter(Boolean)).toEqual([
    '100644 .gitmodules',
    '100644 README.md',
    '100644 bytes',
    '100755 moved/b.txt',
    '100644 new/deep/file.txt',
    '100644 src/.gitattributes',
    String.raw`100644 "\303\251 \"odd\"\n.txt"`,
  ])
  expect(await show(`${id}:README.md`)).toBe('# New\r\n')
  expect(await show(`${id}:new/deep/file.txt`)).toBe('second\n')
  expect(await show(`${id}:moved/b.txt`)).toContain('six')
  expect(
    Buffer.from(
      (await execa('git', ['show', `${id}:bytes`], { cwd: harness.pathOf(project), encoding: 'buffer' }))
        .stdout,
    ),
  ).toEqual(Buffer.from([0, 255, 0]))
  expect((await git('cat-file', '-p', id)).stdout).toMatch(/Many things\n\nat once$/)
})

test('a client that cloned gets the commit with the next fetch', async () => {
  const branch = await freshBranch()
  const { id } = (await (await post({ branch, actions: [createFile('seen.txt')] })).json()) as { id: string }
  await work.git('fetch', '--quiet', harness.remote('reporter', project), branch)
  expect(await work.git('rev-parse', 'FETCH_HEAD')).toBe(id)
})

test.each([
  ['create over a file', createFile('README.md'), 'A file with this name already exists'],
  ['create over a folder', createFile('src'), 'A directory with this name already exists'],
  ['create below a file', createFile('README.md/x'), 'A file with this name already exists'],
  [
    'update of nothing',
    { action: 'update', file_path: 'no', content: '' },
    "A file with this name doesn't exist",
  ],
  ['delete of a folder', { action: 'delete', file_path: 'src' }, "A file with this name doesn't exist"],
  [
    'move of nothing',
    { action: 'move', previous_path: 'no', file_path: 'b' },
    "A file with this name doesn't exist",
  ],
  [
    'move onto a file',
    { action: 'move', previous_path: 'README.md', file_path: 'bin.dat' },
    'A file with this name already exists',
  ],
  [
    'chmod of nothing',
    { action: 'chmod', file_path: 'no', execute_filemode: true },
    "A file with this name doesn't exist",
  ],
  ['traversal', createFile('a/../../b'), 'Path cannot include directory traversal'],
  ['empty component', createFile('a//b'), "invalid path: 'a//b'"],
  ['.git', createFile('a/.git/config'), "invalid path: 'a/.git/config'"],
  ['.GIT', createFile('.GiT/hooks/x'), "invalid path: '.GiT/hooks/x'"],
  ['git~1', createFile('git~1'), "invalid path: 'git~1'"],
  [
    '.git with a stream',
    createFile('.git::$INDEX_ALLOCATION/x'),
    "invalid path: '.git::$INDEX_ALLOCATION/x'",
  ],
  ['.git for HFS+', createFile('.g\u200cit/x'), "invalid path: '.g\u200cit/x'"],
  ['bad base64', { ...createFile('b', '%%%'), encoding: 'base64' }, 'content is not valid base64'],
  [
    'no content',
    { action: 'create', file_path: 'b' },
    '400 Bad request - actions[1][content] is required for create action',
  ],
  [
    'no previous path',
    { action: 'move', file_path: 'b' },
    '400 Bad request - actions[1][previous_path] is required for move action',
  ],
  [
    'stale',
    { action: 'update', file_path: 'README.md', content: 'y', last_commit_id: '1'.repeat(40) },
    'The file has changed since you started editing it: README.md',
  ],
])('%s is refused, names the action, and changes nothing', async (_name, action, message) => {
  const branch = await freshBranch()
  const response = await post({ branch, actions: [createFile('fine.txt'), action] })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { message, action_index: 1, file_path: (action as { file_path: string }).file_path },
  ])
  expect((await git('rev-parse', branch)).stdout).toBe(commits.second)
})

test('a file that was edited since the given commit is refused, the right commit is accepted', async () => {
  const branch = await freshBranch()
  const update = { action: 'update', file_path: 'src/b c.txt', content: 'new' }
  expect((await post({ branch, actions: [{ ...update, last_commit_id: commits.first }] })).status).toBe(400)
  expect((await post({ branch, actions: [{ ...update, last_commit_id: commits.second }] })).status).toBe(201)
})

test.each([
  [
    { branch: undefined, commit_message: undefined },
    'branch is missing, commit_message is missing, actions is missing',
  ],
  [{ branch: ' ', actions: [] }, 'branch is empty'],
  [{ commit_message: '', actions: [] }, 'commit_message is empty'],
  [{ actions: { action: 'create' } }, 'actions is invalid'],
  [{ actions: [{ action: 'explode', file_path: 'x' }] }, 'actions[0][action] does not have a valid value'],
  [{ actions: [{ action: 'create' }] }, 'actions[0][file_path] is missing'],
  [
    { actions: [{ ...createFile('a'), encoding: 'utf7' }] },
    'actions[0][encoding] does not have a valid value',
  ],
  [{ actions: [createFile('a\0b')] }, 'actions[0][file_path] is invalid'],
  [
    { actions: [], start_branch: 'main', start_sha: 'main' },
    'start_branch, start_sha are mutually exclusive',
  ],
])('parameters %j are refused', async (body, error) => {
  const response = await post(body)
  expect([response.status, await response.json()]).toMatchObject([400, { error }])
})

test('an empty commit is created only on request', async () => {
  const branch = await freshBranch()
  expect(await (await post({ branch, actions: [] })).json()).toMatchObject({
    message: '400 Bad request - Provide at least one action, or set allow_empty to true',
  })
  const response = await post({ branch, actions: [], allow_empty: true })
  expect([response.status, await response.json()]).toMatchObject([201, { stats: { total: 0 } }])
})

test('a branch starts at start_branch or start_sha', async () => {
  const actions = [createFile('branch.txt')]
  expect((await post({ branch: 'nowhere', actions })).status).toBe(400)
  const byBranch = await post({ branch: 'from-branch', start_branch: 'feature/x.y', actions })
  expect([byBranch.status, await byBranch.json()]).toMatchObject([201, { parent_ids: [commits.side] }])
  const bySha = await post({ branch: 'from-sha', start_sha: commits.first.slice(0, 10), actions })
  expect([bySha.status, await bySha.json()]).toMatchObject([201, { parent_ids: [commits.first] }])
})

test.each([
  [
    { branch: 'main', start_branch: 'feature/x.y' },
    "A branch called 'main' already exists. Switch to that branch in order to make changes",
  ],
  [{ branch: 'n', start_branch: 'gone' }, 'You can only create or edit files when you are on a branch'],
  [{ branch: 'n', start_sha: '-x' }, "Invalid start_sha '-x'"],
  [{ branch: 'n', start_sha: 'f'.repeat(40) }, `Cannot find start_sha '${'f'.repeat(40)}'`],
  [{ branch: '--exec=x', start_sha: 'main' }, 'Branch name is invalid'],
  [{ branch: 'a..b', start_sha: 'main' }, 'Branch name is invalid'],
  [{ branch: 'refs/heads/main', start_sha: 'main' }, 'Branch name is invalid'],
  [{ branch: 'a'.repeat(40), start_sha: 'main' }, 'Branch name is invalid'],
  [{ branch: '1'.repeat(64), start_sha: 'main' }, 'Branch name is invalid'],
  [{ branch: 'x/'.repeat(2_000), start_sha: 'main' }, 'Branch name is invalid'],
  [
    { branch: 'main/below', start_sha: 'main' },
    'A branch above or below this name exists. Branch name is invalid',
  ],
])('branch start %j is refused', async (start, message) => {
  const response = await post({ actions: [createFile('start.txt')], ...start })
  expect([response.status, await response.json()]).toMatchObject([400, { message }])
})

test('force moves a branch to a new start, but never a protected one', async () => {
  const branch = await freshBranch()
  const body = { branch, start_branch: 'feature/x.y', force: true, actions: [createFile('forced.txt')] }
  expect(await (await post(body)).json()).toMatchObject({ parent_ids: [commits.side] })
  const rule = { projectId: project.id, name: branch, pushAccessLevel: 30 }
  await harness.database.prisma.protectedBranch.create({ data: rule })
  const response = await post({ ...body, start_branch: 'main', actions: [createFile('again.txt')] })
  expect(response.status).toBe(403)
})

test('a repository without commits accepts its first one', async () => {
  const empty = await harness.project()
  const response = await post({ actions: [createFile('a/b.txt', 'hello\n')] }, 'developer', empty.id)
  expect([response.status, await response.json()]).toMatchObject([
    201,
    { parent_ids: [], stats: { additions: 1 } },
  ])
  expect((await inProject(empty, 'show', 'main:a/b.txt')).stdout).toBe('hello')
  expect((await inProject(empty, 'fsck', '--strict')).stderr).toBe('')
})

test('a protected branch is refused with the reason, another branch is not', async () => {
  const guarded = await pushSample(harness)
  const rule = { projectId: guarded.project.id, name: 'ma*', pushAccessLevel: 40 }
  await harness.database.prisma.protectedBranch.create({ data: rule })
  const actions = [createFile('p.txt')]
  const refused = await post({ actions }, 'developer', guarded.project.id)
  expect([refused.status, await refused.json()]).toMatchObject([
    403,
    { message: '403 Forbidden - You are not allowed to push into this branch' },
  ])
  expect((await post({ actions }, 'owner', guarded.project.id)).status).toBe(201)
  expect((await post({ branch: 'feature/x.y', actions }, 'developer', guarded.project.id)).status).toBe(201)
  await guarded.work.close()
})

test('writing checks the role before the parameters', async () => {
  for (const [who, status] of [
    ['anonymous', 401],
    ['stranger', 404],
    ['reporter', 403],
    ['narrow', 403],
    ['readsRepository', 403],
  ] as const) {
    expect([who, (await post({ actions: 'wrong' }, who)).status]).toEqual([who, status])
  }
  expect((await post({ actions: [] }, 'developer', 999_999)).status).toBe(404)
})

test('parallel commits to one branch all succeed, one after the other', async () => {
  const branch = await freshBranch()
  const numbers = Array.from({ length: 40 }, (_, n) => n)
  const responses = await Promise.all(
    numbers.map((n) => post({ branch, actions: [createFile(`parallel/${n}.txt`)] })),
  )
  expect(responses.map(({ status }) => status)).toEqual(numbers.map(() => 201))
  expect((await git('rev-list', '--count', `${commits.second}..${branch}`)).stdout).toBe('40')
  expect((await git('ls-tree', '--name-only', `${branch}:parallel`)).stdout.split('\n')).toHaveLength(40)
})

test('exactly one of several parallel commits to one file succeeds, and the others are refused with the reason', async () => {
  const branch = await freshBranch()
  const responses = await Promise.all(
    ['a', 'b', 'c', 'd'].map((text) =>
      post({ branch, actions: [{ action: 'update', file_path: 'README.md', content: text }] }),
    ),
  )
  const statuses = responses.map(({ status }) => status).sort()
  expect(statuses[0]).toBe(201)
  expect(new Set(statuses.slice(1))).toEqual(
    new Set(statuses.slice(1).map((status) => (status === 201 ? 201 : 409))),
  )
  const made = statuses.filter((status) => status === 201).length
  expect((await git('rev-list', '--count', `${commits.second}..${branch}`)).stdout).toBe(String(made))
})

test('forms can contain actions, urlencoded and multipart', async () => {
  const branch = await freshBranch()
  for (const [index, form] of [new URLSearchParams(), new FormData()].entries()) {
    form.append('branch', branch)
    form.append('commit_message', 'form')
    for (const path of [`f1-${index}`, `f2-${index}`]) {
      form.append('actions[][action]', 'create')
      form.append('actions[][file_path]', path)
      form.append('actions[][content]', path)
    }
    const response = await fetch(`${harness.baseUrl}/api/v4/projects/${project.id}/repository/commits`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': harness.tokens.developer },
      body: form,
    })
    expect([response.status, await response.json()]).toMatchObject([201, { stats: { additions: 2 } }])
    expect(await show(`${branch}:f2-${index}`)).toBe(`f2-${index}`)
  }
})

test('a thousand files in a large body are read back byte for byte', async () => {
  const branch = await freshBranch()
  const text = 'a "quoted" line,\ttab, \u0001, é, 😀\r\n'.repeat(200)
  const bytes = randomBytes(40_000)
  const actions = Array.from({ length: 997 }, (_, index) =>
    createFile(`many/${index}.txt`, `${index} ${text}`),
  )
  const files = [
    { ...createFile('bytes', bytes.toString('base64')), encoding: 'base64' },
    { ...createFile('lines', bytes.toString('base64').replace(/.{76}/g, '$&\n')), encoding: 'base64' },
    createFile('big.txt', 'line of text\n'.repeat(100_000)),
  ]
  const response = await post({ branch, commit_message: text, actions: [...actions, ...files] })
  expect([response.status, await response.json()]).toMatchObject([201, { message: text }])
  expect(await show(`${branch}:many/456.txt`)).toBe(`456 ${text}`)
  expect(await show(`${branch}:big.txt`)).toBe('line of text\n'.repeat(100_000))
  const { stdout: id } = await execa('git', ['hash-object', '--stdin'], { input: bytes })
  expect((await git('rev-parse', `${branch}:bytes`, `${branch}:lines`)).stdout).toBe(`${id}\n${id}`)
  const wrong = { ...createFile('wrong', '*'.repeat(2_000_000)), encoding: 'base64' }
  const refused = await post({ branch, actions: [createFile('fine'), wrong] })
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { message: 'content is not valid base64', action_index: 1, file_path: 'wrong' },
  ])
})

test('malformed JSON is refused, whatever its size', async () => {
  for (const content of ['', 'x'.repeat(2_000_000)]) {
    const response = await fetch(`${harness.baseUrl}/api/v4/projects/${project.id}/repository/commits`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': harness.tokens.developer, 'Content-Type': 'application/json' },
      body: `{"branch":"${content}"`,
    })
    const body = await response.json()
    expect([response.status, body]).toMatchObject([400, { error: 'the body is not valid JSON' }])
  }
})

test('pushes and commits of the API interleave', async () => {
  const branch = await freshBranch()
  const source = await createGitRepository()
  await source.git('fetch', '--quiet', harness.remote('developer', project), branch)
  await source.git('switch', '--quiet', '-c', branch, 'FETCH_HEAD')
  await source.commit({ files: { 'pushed.txt': 'p' } })
  expect((await post({ branch, actions: [createFile('api.txt')] })).status).toBe(201)
  await expect(source.git('push', '--quiet', harness.remote('developer', project), branch)).rejects.toThrow(
    'rejected',
  )
  await source.git('fetch', '--quiet', harness.remote('developer', project), branch)
  await source.git('-c', 'user.name=r', '-c', 'user.email=r@x', 'rebase', '--quiet', 'FETCH_HEAD')
  await source.git('push', '--quiet', harness.remote('developer', project), branch)
  expect((await git('rev-parse', branch)).stdout).toBe(await source.git('rev-parse', 'HEAD'))
  await source.close()
})
