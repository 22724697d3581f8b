import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProtectedBranch } from '../../src/repository/protected-branches/store.js'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

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

type Who = Parameters<GitHarness['send']>[0]
const post = (body: object, who: Who = 'developer', { id }: Pick<Project, 'id'> = project) =>
  harness.ask(who, 'POST', `/projects/${id}/repository/commits`, { commit_message: 'm', ...body })
const createFile = (file_path: string, content = 'x\n') => ({ action: 'create', file_path, content })

/** Returns every reference and object of a repository, and the other files in its object folder. */
async function storedThings(which = project) {
  const options = { env: isolatedGitEnv(), extendEnv: false }
  const git = async (...args: string[]) =>
    (await execa('git', ['--git-dir', harness.pathOf(which), ...args], options)).stdout
  const objects = await git('cat-file', '--batch-check', '--batch-all-objects', '--unordered')
  const folders = await readdir(join(harness.pathOf(which), 'objects'))
  return { references: await git('for-each-ref'), objects: objects.split('\n').sort(), folders }
}

const everyAction = [
  createFile('new/deep.txt', 'one\n'),
  { action: 'update', file_path: 'src/b c.txt', content: 'one\ntwo\nthree\nfour\nfive\nSIX\n' },
  { action: 'move', previous_path: 'src/b c.txt', file_path: 'moved.txt' },
  { action: 'delete', file_path: 'bin.dat' },
  { action: 'chmod', file_path: 'new/deep.txt', execute_filemode: true },
]

test('a dry run shows the later diff of the commit, and stores nothing', async () => {
  const many = Array.from({ length: 50 }, (_, index) => createFile(`many/${index}.txt`))
  for (const [index, actions] of [everyAction, many].entries()) {
    const body = { branch: `new-${index}`, start_sha: commits.second, actions }
    const before = await storedThings()
    const dry = await post({ ...body, dry_run: true })
    expect([dry.status, Object.keys(dry.body), dry.body.dry_run]).toEqual([
      200,
      ['dry_run', 'diffs'],
      'success',
    ])
    expect(await storedThings()).toEqual(before)

    const made = await post(body)
    expect(made.status).toBe(201)
    const url = `/projects/${project.id}/repository/commits/${made.body.id}/diff`
    const { body: diff } = await harness.ask('developer', 'GET', url)
    expect(diff.length).toBeGreaterThan(2)
    expect(dry.body.diffs).toEqual(diff)
  }
})

test('the first commit of an empty project is shown as the files it adds', async () => {
  const empty = await harness.project()
  const body = { branch: 'main', actions: [createFile('a.txt')], dry_run: true }
  const dry = await post(body, 'owner', empty)
  expect([dry.status, dry.body.diffs]).toMatchObject([
    200,
    [{ new_path: 'a.txt', new_file: true, diff: '@@ -0,0 +1 @@\n+x\n' }],
  ])
  expect(await storedThings(empty)).toMatchObject({ references: '', objects: [''] })
  expect((await post({ ...body, dry_run: 'false' }, 'owner', empty)).status).toBe(201)
})

test('an empty commit has no files', async () => {
  const { status, body } = await post({ branch: 'main', allow_empty: true, dry_run: true })
  expect([status, body]).toEqual([200, { dry_run: 'success', diffs: [] }])
})

test('a dry run is refused like the commit, and stores nothing', async () => {
  await createProtectedBranch(harness.database, {
    projectId: project.id,
    name: 'closed',
    levels: { push: [0], merge: [0], unprotect: [] },
    allowForcePush: false,
    codeOwnerApprovalRequired: false,
  })
  const before = await storedThings()
  const gitmodules = '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n'
  for (const [status, body, who] of [
    [400, { branch: 'main', actions: [createFile('src/b c.txt')] }],
    [400, { branch: 'main', actions: [{ action: 'delete', file_path: 'nowhere' }] }],
    [400, { branch: 'main', actions: [createFile('../up')] }],
    [400, { branch: 'main', actions: [createFile('.gitmodules', gitmodules)] }],
    [400, { branch: 'main' }],
    [400, { branch: 'main', actions: [createFile('a.txt')], dry_run: 'perhaps' }],
    [400, { branch: 'bad..name', start_branch: 'main', actions: [createFile('a.txt')] }],
    [403, { branch: 'closed', actions: [createFile('a.txt')] }],
    [401, { branch: 'main', actions: [createFile('a.txt')] }, 'anonymous'],
    [403, { branch: 'main', actions: [createFile('a.txt')] }, 'reporter'],
    [404, { branch: 'main', actions: [createFile('a.txt')] }, 'stranger'],
  ] as const) {
    const real = await post({ ...body, ...('dry_run' in body ? {} : { dry_run: false }) }, who)
    const dry = await post({ dry_run: true, ...body }, who)
    const { request_id: _, ...refusal } = real.body
    expect([real.status, dry.status]).toEqual([status, status])
    expect(dry.body).toMatchObject(refusal)
  }
  expect(await storedThings()).toEqual(before)
})
