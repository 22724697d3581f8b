import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { createGitRepository, type TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

type Who = Parameters<GitHarness['ask']>[0]

let harness: GitHarness
let project: Project
let work: TestGitRepository

const path = 'vendor/lib 1.0'
const old = '1'.repeat(40)
const next = 'A'.repeat(40)

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
  work = await createGitRepository()
  await mkdir(join(work.path, path), { recursive: true })
  await work.git('update-index', '--add', '--cacheinfo', `160000,${old},${path}`)
  const gitmodules = `[submodule "lib"]\n\tpath = ${path}\n\turl = ../lib.git\n`
  await work.commit({ files: { '.gitmodules': gitmodules, 'a.txt': 'a', 'vendor/b.txt': 'b' } })
  await work.git('branch', 'guarded')
  await work.git('push', '--quiet', harness.remote('owner', project), '--all')
  const protection = { name: 'guarded', push_access_level: 40 }
  await harness.ask('owner', 'POST', `/projects/${project.id}/protected_branches`, protection)
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const move = (body: object, submodule = path, who: Who = 'developer', id = project.id) =>
  harness.ask(who, 'PUT', `/projects/${id}/repository/submodules/${encodeURIComponent(submodule)}`, body)
const tree = async () => {
  const query = 'path=vendor&ref=main'
  const { body } = await harness.ask('reporter', 'GET', `/projects/${project.id}/repository/tree?${query}`)
  return Object.fromEntries(body.map(({ name, id, type }: Record<string, string>) => [name, `${type} ${id}`]))
}

test('a submodule moves to another commit, and nothing else changes', async () => {
  const before = await tree()
  const moved = await move({ branch: 'main', commit_sha: next })
  const message = `Update submodule ${path} with oid ${next.toLowerCase()}`
  expect(moved).toMatchObject({ status: 200, body: { message, committer_name: 'Dora Developer' } })
  expect(await tree()).toEqual({ ...before, 'lib 1.0': `commit ${next.toLowerCase()}` })
  const again = await move({ branch: 'main', commit_sha: next })
  const text = expect.stringContaining('The submodule is already at')
  expect(again).toMatchObject({ status: 400, body: { message: text } })
  const back = await move({ branch: 'main', commit_sha: old, commit_message: 'Back' })
  expect(back).toMatchObject({ status: 200, body: { title: 'Back', parent_ids: [moved.body.id] } })
  expect(await tree()).toEqual(before)
})

test.each([
  'a.txt',
  'vendor',
  'none',
  `${path}/x`,
  'a.txt/x',
  'VENDOR/lib 1.0',
  '\u202elib',
  'v'.repeat(3000),
])('the path %j is no submodule', async (other) => {
  const answer = await move({ branch: 'main', commit_sha: next }, other)
  expect(answer).toMatchObject({ status: 400, body: { message: 'Invalid submodule path' } })
  expect(answer.body).not.toHaveProperty('action_index')
})

test.each(['../lib', '.git', 'vendor/.git/x', 'a\0b', ' ', '/', 'vendor//lib'])(
  'the path %j is refused',
  async (other) => {
    expect((await move({ branch: 'main', commit_sha: next }, other)).status).toBe(400)
  },
)

test.each([
  {},
  { branch: 'main' },
  { commit_sha: next },
  ...['', 'main', old.slice(1), `${old}0`, '0'.repeat(40), `${old}\n`, 7].map((commit_sha) => ({
    branch: 'main',
    commit_sha,
  })),
  ...['none', '-f', '../main', 'main\0', 'v'.repeat(5000)].map((branch) => ({ branch, commit_sha: next })),
])('bad input %j is refused', async (body) => {
  expect((await move(body)).status).toBe(400)
})

test('a submodule is moved by callers who may push to the branch', async () => {
  const body = { branch: 'guarded', commit_sha: next }
  expect((await move(body)).status).toBe(403)
  expect((await move(body, path, 'owner')).status).toBe(200)
  const open = { branch: 'main', commit_sha: next }
  expect((await move(open, path, 'reporter')).status).toBe(403)
  expect((await move(open, path, 'readsRepository')).status).toBe(403)
  expect((await move(open, path, 'stranger')).status).toBe(404)
  expect((await move(open, path, 'owner', 999_999)).status).toBe(404)
  expect((await move(open, path, 'anonymous')).status).toBe(401)
  const empty = await harness.project()
  expect((await move(open, path, 'owner', empty.id)).body.message).toBe('Invalid submodule path')
})

test('parallel moves are each a commit or a refusal', async () => {
  const hashes = ['b', 'c', 'd', 'e'].map((digit) => digit.repeat(40))
  const answers = await Promise.all(hashes.map((commit_sha) => move({ branch: 'main', commit_sha })))
  const moved = answers.filter(({ status }) => status === 200)
  expect(moved.length).toBeGreaterThan(0)
  expect(answers.filter(({ status }) => ![200, 409].includes(status))).toEqual([])
})
