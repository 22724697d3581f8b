import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { createGitRepository, isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let picks: Record<'root' | 'rename' | 'edit' | 'clash' | 'merge', string>

const identity = ['-c', 'user.name=T', '-c', 'user.email=t@example.com']
const lines = (...changed: string[]) => `${['1', '2', '3', '4', '5', '6', ...changed].join('\n')}\n`

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
  work = await createGitRepository()
  const root = await work.commit({ files: { 'a.txt': lines(), 'dir/b.txt': 'b\n' } })
  await work.git('branch', 'target')
  const author = { name: 'Ana Author', email: 'ana@example.com' }
  const edit = await work.commit({
    files: { 'a.txt': lines('7') },
    message: 'Edit\n',
    date: '2026-02-01T10:00:00+02:00',
    author,
  })
  await work.git('mv', 'dir/b.txt', 'dir/c.txt')
  const rename = await work.commit({ files: { 'a.txt': lines('7', '8') } })
  const clash = await work.commit({ files: { 'dir/c.txt': 'other\n' } })
  await work.commit({ branch: 'side', files: { 'side.txt': 's\n' } })
  await work.git('switch', '--quiet', 'main')
  await work.commit({ files: { 'main.txt': 'm\n' } })
  await work.git(...identity, 'merge', '--quiet', '--no-edit', 'side')
  picks = { root, edit, rename, clash, merge: await work.git('rev-parse', 'HEAD') }
  await work.git('push', '--quiet', harness.remote('owner', project), '--all')
})
afterAll(async () => {
  const { stdout, stderr } = await git('fsck', '--strict', '--no-dangling')
  expect(stdout + stderr).toBe('')
  await work?.close()
  await harness?.close()
})

const git = (...args: string[]) =>
  execa('git', ['--git-dir', harness.pathOf(project), ...args], { env: isolatedGitEnv(), extendEnv: false })

type Who = Parameters<GitHarness['send']>[0]
const apply =
  (call: string) =>
  (sha: string, body: object, who: Who = 'developer') =>
    harness.send(
      who,
      'POST',
      `/projects/${project.id}/repository/commits/${encodeURIComponent(sha)}/${call}`,
      body,
    )
const pick = apply('cherry_pick')
const revert = apply('revert')

let branches = 0
async function freshBranch(start = 'target') {
  branches += 1
  await git('update-ref', `refs/heads/pick-${branches}`, (await git('rev-parse', start)).stdout)
  return `pick-${branches}`
}

test('a picked commit keeps its author and names its origin', async () => {
  const branch = await freshBranch()
  const response = await pick(picks.edit, { branch })
  expect([response.status, await response.json()]).toMatchObject([
    201,
    {
      title: 'Edit',
      message: `Edit\n\n(cherry picked from commit ${picks.edit})`,
      author_name: 'Ana Author',
      authored_date: '2026-02-01T10:00:00.000+02:00',
      committer_name: 'Dora Developer',
      parent_ids: [(await git('rev-parse', 'target')).stdout],
      stats: { additions: 1, deletions: 0, total: 1 },
      status: null,
    },
  ])
  const own = await pick(picks.rename, { branch, message: 'Mine' })
  expect(await own.json()).toMatchObject({ message: 'Mine' })
})

test('the tree equals the result of git cherry-pick, also for merges against their first parent', async () => {
  for (const [name, sequence] of [
    ['edit', []],
    ['rename', ['edit']],
    ['merge', []],
  ] as const) {
    const branch = await freshBranch()
    await work.git('switch', '--quiet', '--detach', 'target')
    for (const earlier of sequence) {
      expect((await pick(picks[earlier], { branch })).status).toBe(201)
      await work.git(...identity, 'cherry-pick', picks[earlier])
    }
    expect((await pick(picks[name], { branch })).status).toBe(201)
    await work.git(...identity, 'cherry-pick', ...(name === 'merge' ? ['-m', '1'] : []), picks[name])
    expect((await git('rev-parse', `${branch}^{tree}`)).stdout).toBe(
      await work.git('rev-parse', 'HEAD^{tree}'),
    )
    await work.git('switch', '--quiet', 'main')
  }
})

test('a conflict and an empty change have different errors, and nothing changes', async () => {
  const branch = await freshBranch()
  await git('update-ref', `refs/heads/${branch}-both`, picks.edit)
  for (const dry of [{}, { dry_run: true }]) {
    const clash = await pick(picks.rename, { branch, ...dry })
    expect([clash.status, await clash.json()]).toMatchObject([
      400,
      { error_code: 'conflict', conflicted_paths: ['a.txt'] },
    ])
    const empty = await pick(picks.edit, { branch: `${branch}-both`, ...dry })
    const body = await empty.json()
    expect([empty.status, body]).toMatchObject([400, { error_code: 'empty' }])
    expect((body as { dry_run?: string }).dry_run).toBe('dry_run' in dry ? 'error' : undefined)
  }
  expect((await git('rev-parse', branch)).stdout).toBe((await git('rev-parse', 'target')).stdout)
})

/** Returns every object of the repository, reachable or not, and the other files in its object folder. */
async function storedThings() {
  const { stdout } = await git('cat-file', '--batch-check', '--batch-all-objects', '--unordered')
  return [stdout.split('\n').sort(), await readdir(join(harness.pathOf(project), 'objects'))]
}

test('a dry run shows the later changes of the commit, and stores nothing', async () => {
  // git merges the change of a rename; a change of a single file is applied without git.
  for (const [sha, start] of [
    [picks.edit, 'target'],
    [picks.rename, picks.edit],
  ] as const) {
    const branch = await freshBranch(start)
    const before = await storedThings()
    const response = await pick(sha, { branch, dry_run: true })
    const body = (await response.json()) as { dry_run: string; diffs: unknown[] }
    expect([response.status, body]).toMatchObject([200, { dry_run: 'success' }])
    expect(body.diffs.length).toBeGreaterThan(0)
    expect((await git('rev-parse', branch)).stdout).toBe((await git('rev-parse', start)).stdout)
    await pick(picks.clash, { branch, dry_run: true })
    expect(await storedThings()).toEqual(before)

    const made = (await (await pick(sha, { branch })).json()) as { id: string }
    const diff = await harness.ask(
      'developer',
      'GET',
      `/projects/${project.id}/repository/commits/${made.id}/diff`,
    )
    expect(body.diffs).toEqual(diff.body)
  }
})

test('a root commit is picked as the files it adds', async () => {
  const other = await createGitRepository()
  await other.commit({ files: { 'elsewhere.txt': 'x' } })
  await other.git('push', '--quiet', harness.remote('owner', project), 'main:refs/heads/unrelated')
  const response = await pick(picks.root, { branch: 'unrelated' })
  expect(response.status).toBe(201)
  expect((await git('ls-tree', '-r', '--name-only', 'unrelated')).stdout).toBe(
    'a.txt\ndir/b.txt\nelsewhere.txt',
  )
  await other.close()
})

test('parallel picks to one branch both succeed', async () => {
  const branch = await freshBranch()
  const results = await Promise.all([pick(picks.edit, { branch }), pick(picks.merge, { branch })])
  expect(results.map(({ status }) => status)).toEqual([201, 201])
  expect((await git('rev-list', '--count', `target..${branch}`)).stdout).toBe('2')
})

test('invalid requests are refused in the documented words', async () => {
  const cases = [
    [picks.edit, {}, 400, { error: 'branch is missing' }],
    [picks.edit, { branch: ' ' }, 400, { error: 'branch is empty' }],
    [picks.edit, { branch: '-x' }, 400, { message: 'The branch refname is invalid' }],
    [picks.edit, { branch: 'nowhere' }, 404, { message: '404 Branch Not Found' }],
    ['f'.repeat(40), { branch: 'target' }, 404, { message: '404 Commit Not Found' }],
    ['--abort', { branch: 'target' }, 404, { message: '404 Commit Not Found' }],
  ] as const
  for (const [sha, body, status, answer] of cases) {
    const response = await pick(sha, body)
    expect([response.status, await response.json()]).toMatchObject([status, answer])
  }
})

test('roles and protected branches apply', async () => {
  const branch = await freshBranch()
  const rule = { projectId: project.id, name: branch, pushAccessLevel: 40 }
  await harness.database.prisma.protectedBranch.create({ data: rule })
  for (const [who, status] of [
    ['anonymous', 401],
    ['stranger', 404],
    ['reporter', 403],
    ['developer', 403],
    ['owner', 201],
  ] as const) {
    expect([who, (await pick(picks.edit, { branch }, who)).status]).toEqual([who, status])
  }
})

test('a revert equals the result of git, with the caller as author, and undoes merges against their first parent', async () => {
  for (const name of ['edit', 'clash', 'merge'] as const) {
    // Later commits change the same lines.
    const start = name === 'edit' ? picks.edit : picks.merge
    const branch = await freshBranch(start)
    const response = await revert(picks[name], { branch })
    const body = (await response.json()) as { message: string }
    expect([response.status, body]).toMatchObject([
      201,
      {
        message: `Revert "${await work.git('log', '-1', '--format=%s', picks[name])}"\n\nThis reverts commit ${picks[name]}`,
        author_name: 'Dora Developer',
        committer_name: 'Dora Developer',
        parent_ids: [start],
      },
    ])
    await work.git('switch', '--quiet', '--detach', start)
    const parent = name === 'merge' ? ['-m', '1'] : []
    await work.git(...identity, 'revert', '--no-edit', ...parent, picks[name])
    expect((await git('rev-parse', `${branch}^{tree}`)).stdout).toBe(
      await work.git('rev-parse', 'HEAD^{tree}'),
    )
    await work.git('switch', '--quiet', 'main')
    expect((await revert(picks[name], { branch })).status).toBe(400)
  }
})

test('a revert that conflicts or changes nothing is refused, a dry run changes nothing, and rights apply', async () => {
  const branch = await freshBranch('main')
  const answer = async (sha: string, body: object, who?: Who) => {
    const response = await revert(sha, body, who)
    return [response.status, await response.json()]
  }
  expect(await answer(picks.clash, { branch, dry_run: true })).toMatchObject([200, { dry_run: 'success' }])
  expect(await answer(picks.edit, { branch })).toMatchObject([400, { error_code: 'conflict' }])
  expect(await answer(picks.edit, { branch: await freshBranch(), dry_run: true })).toMatchObject([
    400,
    { error_code: 'empty', dry_run: 'error', message: expect.stringMatching(/cannot be reverted/) },
  ])
  expect((await git('rev-parse', branch)).stdout).toBe(picks.merge)
  expect(await answer('f'.repeat(40), { branch })).toMatchObject([404, { message: '404 Commit Not Found' }])
  expect(await answer(picks.edit, { branch: 'nowhere' })).toMatchObject([
    404,
    { message: '404 Branch Not Found' },
  ])
  expect(await answer(picks.edit, {})).toMatchObject([400, { error: 'branch is missing' }])
  for (const [who, status] of [
    ['anonymous', 401],
    ['stranger', 404],
    ['reporter', 403],
  ] as const) {
    expect((await answer(picks.edit, { branch }, who))[0]).toBe(status)
  }
})
