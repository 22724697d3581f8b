import { execFile } from 'node:child_process'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryHousekeepingJob } from '@switchyard/contracts/jobs'
import { createGitRepository, createProject, createUser, isolatedGitEnv } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'

const run = promisify(execFile)

let harness: Awaited<ReturnType<typeof startHarness>>
let worker: Awaited<ReturnType<typeof harness.startWorker>>
beforeAll(async () => {
  harness = await startHarness()
  worker = await harness.startWorker()
})
afterAll(async () => {
  await worker.close()
  await harness.close()
})

/** A project with a repository that was filled by several pushes. */
async function pushedProject() {
  const project = await createProject(harness.database, await createUser(harness.database))
  const bare = join(harness.storageRoot, project.diskPath)
  await run('git', ['init', '--bare', '--quiet', bare])
  const source = await createGitRepository()
  for (let push = 0; push < 4; push += 1) {
    await source.commit({ files: { [`src/${push}.txt`]: `content ${push}\n` } })
    await source.git('push', '--quiet', bare, 'main', `HEAD:refs/heads/branch-${push}`)
  }
  const tip = await source.git('rev-parse', 'HEAD')
  await source.close()
  return { project, bare, tip }
}

const git = async (bare: string, ...args: string[]) =>
  (await run('git', [`--git-dir=${bare}`, ...args], { env: isolatedGitEnv() })).stdout.trim()

async function tidied(projectId: number) {
  const queue = harness.queue('repository-housekeeping')
  const job = repositoryHousekeepingJob(projectId)
  const added = await queue.add(job.name, job.data, { ...job.options, delay: 0 })
  await expect.poll(() => added.getState(), { timeout: 20_000 }).toBe('completed')
}

it('joins packs and loose objects, indexes them together, and writes the commit graph', async () => {
  const { project, bare, tip } = await pushedProject()
  expect(await git(bare, 'count-objects')).not.toMatch(/^0 objects/)
  await tidied(project.id)
  expect(await git(bare, 'count-objects')).toMatch(/^0 objects/)
  const packs = await readdir(join(bare, 'objects/pack'))
  expect(packs.filter((name) => name.endsWith('.pack'))).toHaveLength(1)
  expect(packs).toContain('multi-pack-index')
  expect(await readdir(join(bare, 'objects/info'))).toContain('commit-graph')
  expect(await readdir(join(bare, 'refs/heads'))).toEqual([])
  expect(await git(bare, 'rev-parse', 'branch-3')).toBe(tip)
  await git(bare, 'commit-graph', 'verify')
  await git(bare, 'fsck', '--full', '--strict')
})

it('comes to the same end when it runs again', async () => {
  const { project, bare, tip } = await pushedProject()
  await tidied(project.id)
  await tidied(project.id)
  expect(await git(bare, 'rev-parse', 'main')).toBe(tip)
  await git(bare, 'fsck', '--full', '--strict')
})

it('goes on after a run that was killed and left its locks', async () => {
  const { project, bare } = await pushedProject()
  for (const lock of ['objects/info/commit-graph.lock', 'objects/pack/multi-pack-index.lock']) {
    await writeFile(join(bare, lock), '')
    await utimes(join(bare, lock), new Date(0), new Date(0))
  }
  await tidied(project.id)
  expect(await readdir(join(bare, 'objects/info'))).toContain('commit-graph')
})

it('has nothing to do for an empty repository, one that is gone, and a project that is gone', async () => {
  const project = await createProject(harness.database, await createUser(harness.database))
  await run('git', ['init', '--bare', '--quiet', join(harness.storageRoot, project.diskPath)])
  await tidied(project.id)
  await tidied((await createProject(harness.database, await createUser(harness.database))).id)
  await tidied(2_000_000_000)
})

it('runs once for ten pushes that come together', async () => {
  const { project, bare } = await pushedProject()
  const queue = harness.queue('repository-housekeeping')
  const { name, data, options } = repositoryHousekeepingJob(project.id)
  const before = await queue.getCompletedCount()
  const pushes = Array.from({ length: 10 }, () => queue.add(name, data, { ...options, delay: 500 }))
  const jobs = await Promise.all(pushes)
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(1)
  await expect.poll(() => jobs[0]?.getState(), { timeout: 20_000 }).toBe('completed')
  expect(await readdir(join(bare, 'objects/info'))).toContain('commit-graph')
  expect((await queue.getCompletedCount()) - before).toBe(1)
  expect(await queue.getJobCountByTypes('wait', 'delayed', 'active', 'failed')).toBe(0)
})

it('puts a job with a payload nobody can read among the dead ones at once', async () => {
  const queue = harness.queue('repository-housekeeping')
  const job = await queue.add('repository-housekeeping', { projectId: 'seven' }, { attempts: 5 })
  await expect.poll(() => job.getState()).toBe('failed')
  const dead = await queue.getJob(job.id ?? '')
  expect([dead?.attemptsMade, dead?.failedReason]).toEqual([1, expect.stringContaining('payload')])
})
