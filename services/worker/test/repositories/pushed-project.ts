import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryHousekeepingJob, repositoryHousekeepingQueue } from '@switchyard/contracts/jobs'
import { createGitRepository, createProject, createUser } from '@switchyard/testing'
import { expect } from 'vitest'
import type { startHarness } from '../harness.js'

const run = promisify(execFile)

type Harness = Awaited<ReturnType<typeof startHarness>>

/** Creates a project with a repository that was filled by several pushes. */
export async function pushedProject(harness: Harness) {
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

/** Waits until a worker has tidied the repository of a project. */
export async function tidied(harness: Harness, projectId: number, storage = 'default') {
  const queue = harness.queue(repositoryHousekeepingQueue(storage))
  const job = repositoryHousekeepingJob(projectId)
  const added = await queue.add(job.name, job.data, { ...job.options, delay: 0 })
  await expect.poll(() => added.getState()).toBe('completed')
}
