import { randomBytes } from 'node:crypto'
import { Gitlab } from '@gitbeaker/rest'
import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness({ env: { WEBHOOK_SECRET_KEYS: randomBytes(32).toString('base64') } })
  ;({ project, work, commits } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const clientOf = (who: keyof GitHarness['tokens']) =>
  new Gitlab({ host: harness.baseUrl, token: harness.tokens[who] })
const ci = () => clientOf('developer').Commits

async function freshCommit() {
  const sha = await work.commit({ branch: 'plugins' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'plugins')
  return sha
}

const stateOf = async (sha: string) => (await ci().show(project.id, sha)).status
const idsOf = (statuses: { id: number }[]) => statuses.map(({ id }) => id)

test('comments: on the commit, on a line, read back in order and over all pages', async () => {
  const plain = await ci().createComment(project.id, commits.side, 'On the whole')
  expect(plain).toMatchObject({ note: 'On the whole', path: null, line: null, line_type: null })
  const placed = await ci().createComment(project.pathWithNamespace, 'feature/x.y', 'On a line', {
    path: 'side.txt',
    line: 1,
    lineType: 'new',
  })
  expect(placed).toMatchObject({ path: 'side.txt', line: 1, line_type: 'new', author: { username: 'dora' } })
  for (let number = 1; number <= 22; number += 1) {
    await ci().createComment(project.id, commits.side, `Number ${number}`)
  }
  const all = await ci().allComments(project.id, commits.side)
  expect(all.map(({ note }) => note)).toEqual([
    'On the whole',
    'On a line',
    ...Array.from({ length: 22 }, (_, index) => `Number ${index + 1}`),
  ])
  expect(await ci().allComments(project.id, commits.first)).toEqual([])
})

test('comments: a client receives the reason of a refusal', async () => {
  const refused = (who: keyof GitHarness['tokens'], sha: string, note = 'n') =>
    clientOf(who).Commits.createComment(project.id, sha, note)
  await expect(refused('guest', commits.first)).rejects.toThrow('403 Forbidden')
  await expect(refused('stranger', commits.first)).rejects.toThrow('404 Project Not Found')
  await expect(refused('developer', 'f'.repeat(40))).rejects.toThrow('404 Commit Not Found')
  await expect(refused('developer', commits.first, ' ')).rejects.toThrow("Note can't be blank")
  await expect(ci().createComment(project.id, commits.first, 'n', { path: 'README.md' })).rejects.toThrow(
    'line is missing',
  )
})

test('Jenkins: pending, running and success are one status, and repeated posts are accepted', async () => {
  const sha = await freshCommit()
  const post = (state: 'pending' | 'running' | 'success', more = {}) =>
    ci().editStatus(project.id, sha, state, {
      name: 'jenkins/build',
      ref: 'plugins',
      targetUrl: 'https://jenkins.example/job/1/',
      ...more,
    })
  const pending = await post('pending', { description: 'Waits for an executor' })
  expect(pending).toMatchObject({ status: 'pending', started_at: null, finished_at: null })
  expect(await stateOf(sha)).toBe('pending')
  expect((await post('pending')).id).toBe(pending.id)
  const running = await post('running')
  expect(running).toMatchObject({ id: pending.id, started_at: expect.any(String) })
  expect(await post('running')).toMatchObject({ id: pending.id, started_at: running.started_at })
  const success = await post('success', { coverage: 91.5, description: 'Done' })
  expect(success).toMatchObject({ id: pending.id, coverage: 91.5, description: 'Done' })
  expect(await ci().allStatuses(project.id, sha, { ref: 'plugins' })).toEqual([success])
  expect(await stateOf(sha)).toBe('success')
})

test('TeamCity: a build goes back to the queue, fails and runs again', async () => {
  const sha = await freshCommit()
  const post = (state: 'pending' | 'running' | 'success' | 'failed') =>
    ci().editStatus(project.id, sha, state, { name: 'Project / Build', description: `Build is ${state}` })
  const first = await post('running')
  expect(await post('pending')).toMatchObject({ id: first.id, status: 'pending' })
  expect(await post('running')).toMatchObject({ id: first.id, status: 'running' })
  expect(await post('failed')).toMatchObject({ id: first.id, status: 'failed' })
  expect(await stateOf(sha)).toBe('failed')
  const retried = await post('running')
  expect(retried.id).toBeGreaterThan(first.id)
  expect(retried.finished_at).toBe(null)
  await post('success')
  expect(await stateOf(sha)).toBe('success')
  expect(idsOf(await ci().allStatuses(project.id, sha))).toEqual([retried.id])
  expect(idsOf(await ci().allStatuses(project.id, sha, { all: true }))).toEqual([first.id, retried.id])
})

test('Woodpecker: twelve parallel jobs of a matrix are twelve statuses', async () => {
  const sha = await freshCommit()
  const names = Array.from({ length: 12 }, (_, index) => `ci/woodpecker/push/job-${index}`)
  const live = async (context: string, index: number) => {
    const ids = []
    for (const state of ['pending', 'running', index === 5 ? 'failed' : 'success'] as const) {
      ids.push((await ci().editStatus(project.id, sha, state, { context })).id)
    }
    expect(new Set(ids).size).toBe(1)
  }
  await Promise.all(names.map(live))
  const all = await ci().allStatuses(project.id, sha, { all: true })
  expect(all.map(({ name }) => name).sort()).toEqual([...names].sort())
  expect(all.filter(({ status }) => status !== 'success').map(({ name }) => name)).toEqual([names[5]])
  expect(await stateOf(sha)).toBe('failed')
})

test('several contexts and branches of one commit are separate statuses', async () => {
  const sha = await freshCommit()
  const post = (name: string, ref: string, state: 'running' | 'success' | 'canceled') =>
    ci().editStatus(project.id, sha, state, { name, ref })
  await post('lint', 'plugins', 'success')
  await post('unit', 'plugins', 'success')
  await post('unit', 'release', 'running')
  expect(await stateOf(sha)).toBe('running')
  await post('unit', 'release', 'canceled')
  expect(await stateOf(sha)).toBe('canceled')
  const namesOf = async (options: object) =>
    (await ci().allStatuses(project.id, sha, options)).map(({ name, ref }) => `${name}@${ref}`)
  expect(await namesOf({ ref: 'plugins' })).toEqual(['lint@plugins', 'unit@plugins'])
  expect(await namesOf({ ref: 'release' })).toEqual(['unit@release'])
  expect(await namesOf({ name: 'unit' })).toEqual(['unit@plugins', 'unit@release'])
})

test('statuses: a client receives the reason of a refusal', async () => {
  const post = (who: keyof GitHarness['tokens'], sha: string, options = {}) =>
    clientOf(who).Commits.editStatus(project.id, sha, 'success', options)
  await expect(post('reporter', commits.first)).rejects.toThrow(
    '403 Forbidden - You need at least the role Developer',
  )
  await expect(post('stranger', commits.first)).rejects.toThrow('404 Project Not Found')
  await expect(post('developer', 'e'.repeat(40))).rejects.toThrow('404 Commit Not Found')
  await expect(post('developer', commits.first, { targetUrl: 'ftp://x' })).rejects.toThrow('is blocked')
})

test('webhooks are created, changed, listed and deleted', async () => {
  const { ProjectHooks } = clientOf('owner')
  const hook = await ProjectHooks.add(project.id, 'https://ci.example.com/hook', {
    token: 'short',
    jobEvents: true,
    mergeRequestsEvents: true,
  })
  expect(hook).toMatchObject({ push_events: true, job_events: true, merge_requests_events: true })
  const edited = await ProjectHooks.edit(project.id, hook.id, hook.url, { pushEvents: false })
  expect(edited).toMatchObject({ id: hook.id, push_events: false, job_events: true })
  expect(await ProjectHooks.all(project.id)).toEqual([edited])
  await ProjectHooks.remove(project.id, hook.id)
  expect(await ProjectHooks.all(project.id)).toEqual([])
})

test('merge requests and issues have empty lists, and a client receives the reason why it cannot create them', async () => {
  const { MergeRequests, Issues } = clientOf('developer')
  expect(await MergeRequests.all({ projectId: project.id })).toEqual([])
  expect(await Issues.all({ projectId: project.id })).toEqual([])
  await expect(MergeRequests.create(project.id, 'feature', 'main', 'Title')).rejects.toThrow(
    '403 Forbidden - Switchyard has no merge requests',
  )
  await expect(Issues.create(project.id, 'Title')).rejects.toThrow('403 Forbidden - Switchyard has no issues')
  const stranger = clientOf('stranger')
  await expect(stranger.Issues.create(project.id, 'Title')).rejects.toThrow('404 Project Not Found')
})

test('project tokens: a description is kept when the token is replaced', async () => {
  const { ProjectAccessTokens } = clientOf('owner')
  const options = { accessLevel: 30 as const, description: 'Builds the shop' }
  const made = await ProjectAccessTokens.create(project.id, 'ci', ['read_api'], '2030-01-31', options)
  expect(made).toMatchObject({ description: 'Builds the shop', expires_at: '2030-01-31' })
  const rotated = await ProjectAccessTokens.rotate(project.id, made.id)
  expect(await ProjectAccessTokens.show(project.id, rotated.id)).toMatchObject({
    description: 'Builds the shop',
  })
})
