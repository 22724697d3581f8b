import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { jobKeyPrefix, queueNames } from '@switchyard/contracts/jobs'
import type { Project } from '@switchyard/db'
import { packetLine } from '@switchyard/git-storage/git-http'
import { createRedis } from '@switchyard/service-kit/redis'
import { createGitRepository, startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let redis: TestRedis
let harness: GitHarness
let queue: Queue
let connection: ReturnType<typeof createRedis>

beforeAll(async () => {
  redis = await startTestRedis()
  harness = await startGitHarness({ redisUrl: redis.urlOf('git-api') })
  connection = createRedis({ url: redis.url, onError: () => {} })
  queue = new Queue(queueNames.repositoryHousekeeping, { connection, prefix: jobKeyPrefix })
  await queue.waitUntilReady()
})
afterAll(async () => {
  await queue?.close()
  connection?.disconnect()
  await harness?.close()
  await redis?.stop()
})

const queuedProjects = async () => (await queue.getDelayed()).map((job) => Number(job.data.projectId))
const queued = (project: Project) =>
  waitFor(async () => (await queuedProjects()).includes(project.id), { what: 'a housekeeping job' })

test('a push with a change requests housekeeping, a push without one does not', async () => {
  const refused = await harness.project()
  const rule = { projectId: refused.id, name: '*', pushAccessLevel: 0 }
  await harness.database.prisma.protectedBranch.create({ data: rule })
  const project = await harness.project()
  const work = await createGitRepository()
  await work.commit({ files: { 'a.txt': 'a' } })
  await expect(work.git('push', '--quiet', harness.remote('owner', refused), 'main')).rejects.toThrow(
    'You are not allowed to push into this branch: main',
  )
  await work.git('push', '--quiet', harness.remote('owner', project), 'main')
  await queued(project)
  expect(await queuedProjects()).not.toContain(refused.id)
  await work.close()
})

test('a commit over the API requests housekeeping', async () => {
  const project = await harness.project()
  const response = await harness.send('developer', 'POST', `/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'm',
    actions: [{ action: 'create', file_path: 'a', content: '' }],
  })
  expect(response.status).toBe(201)
  await queued(project)
})

/** Creates a project, and functions that read its default branch from pushes and requests. */
async function defaultBranchCase() {
  const project = await harness.project()
  const remote = harness.remote('owner', project)
  const work = await createGitRepository()
  await work.commit({ files: { 'a.txt': 'a' }, message: 'First' })
  return {
    project,
    work,
    push: (...names: string[]) =>
      work.git('push', '--quiet', remote, ...names.map((name) => `main:refs/heads/${name}`)),
    /** Returns the default branch of the project, and checks that a clone checks out the same one. */
    async shown() {
      const { body } = await harness.ask('owner', 'GET', `/projects/${project.id}`)
      const head = await work.git('ls-remote', '--symref', remote, 'HEAD')
      expect(head).toContain(`ref: refs/heads/${body.default_branch}\t`)
      return body.default_branch
    },
  }
}

test('another branch substitutes for a missing default branch until it is pushed', async () => {
  const { project, work, push, shown } = await defaultBranchCase()
  await push('feature')
  expect(await shown()).toBe('feature')
  const commits = await harness.send('owner', 'GET', `/projects/${project.id}/repository/commits`)
  expect(await commits.json()).toMatchObject([{ title: 'First' }])
  await push('another', 'master')
  expect(await shown()).toBe('feature')
  await push('main')
  expect(await shown()).toBe('main')
  await push('feature-2')
  expect(await shown()).toBe('main')
  await work.close()
})

test('a branch of git-annex is the substitute only while there is no other branch', async () => {
  const { work, push, shown } = await defaultBranchCase()
  await push('synced/git-annex', 'git-annex')
  expect(await shown()).toBe('git-annex')
  await push('work')
  expect(await shown()).toBe('work')
  await push('main')
  expect(await shown()).toBe('main')
  await work.close()
})

test('a default branch that is created over the API replaces the substitute', async () => {
  const { project, work, push, shown } = await defaultBranchCase()
  await push('feature')
  const repository = `/projects/${project.id}/repository`
  const made = await harness.ask('owner', 'POST', `${repository}/branches?branch=main&ref=feature`)
  expect(made).toMatchObject({ status: 201, body: { default: true } })
  expect(await shown()).toBe('main')
  await work.close()
})

test('a branch that is chosen as the default branch stays the default branch', async () => {
  const { project, work, push, shown } = await defaultBranchCase()
  await push('feature')
  const chosen = await harness.ask('owner', 'PUT', `/projects/${project.id}`, { default_branch: 'feature' })
  expect(chosen.status).toBe(200)
  await push('main')
  expect(await shown()).toBe('feature')
  await work.close()
})

test('parallel pushes end with the requested default branch', async () => {
  const { work, push, shown } = await defaultBranchCase()
  // git refuses to create the branch that HEAD names while HEAD moves, so the client pushes again.
  const pushMain = () => push('main').catch(() => push('main'))
  await Promise.all([push('a'), push('b'), pushMain(), push('c'), push('d')])
  expect(await shown()).toBe('main')
  await work.close()
})

test('the first commit over the API makes its branch the default branch', async () => {
  const project = await harness.project()
  const actions = [{ action: 'create', file_path: 'a', content: '' }]
  const body = { branch: 'trunk', commit_message: 'm', actions }
  const created = await harness.send('developer', 'POST', `/projects/${project.id}/repository/commits`, body)
  expect(created.status).toBe(201)
  const described = await harness.send('owner', 'GET', `/projects/${project.id}`)
  expect(await described.json()).toMatchObject({ default_branch: 'trunk' })
})

test('a push whose client disconnects ends its git process', async () => {
  const project = await harness.project()
  const path = harness.pathOf(project)
  const { host, username, password, pathname } = new URL(harness.remote('owner', project))
  const upload = request(`http://${host}${pathname}/git-receive-pack`, {
    method: 'POST',
    auth: `${username}:${password}`,
    headers: { 'Content-Type': 'application/x-git-receive-pack-request' },
  })
  upload.on('error', () => {})
  const command = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/main\0report-status`
  upload.write(`${packetLine(command)}0000`)
  await waitFor(async () => (await processesOn(path)).length > 0, { what: 'git to start' })
  upload.destroy()
  await waitFor(async () => (await processesOn(path)).length === 0, { what: 'git to end' })
})

/** Lists the ids of processes that have this path among their arguments. */
async function processesOn(path: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    ids.map(async (id) => (await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')).includes(path)),
  )
  return ids.filter((_, index) => found[index])
}
