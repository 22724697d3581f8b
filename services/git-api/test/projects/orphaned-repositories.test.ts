import { randomUUID } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createGit, type Git } from '@switchyard/git-storage/git'
import { diskPathOf } from '@switchyard/git-storage/repository-files'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeOrphans } from '../../src/projects/orphaned-repositories.js'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let git: Git
beforeAll(async () => {
  harness = await startGitHarness()
  git = createGit(harness.storageRoot)
})
afterAll(async () => {
  git?.close()
  await harness?.close()
})

const hour = 3_600_000
const { logger } = createServiceContext('test', 'silent')
const sweep = () => {
  const needs = { database: harness.database, git, storageRoot: harness.storageRoot, logger }
  const before = new Date(Date.now() - hour)
  return removeOrphans(needs, { repositoriesBefore: before, uploadsBefore: before })
}

const age = (path: string, ms = 2 * hour) => {
  const time = new Date(Date.now() - ms)
  return utimes(path, time, time)
}
const namesBeside = async (path: string) => (await readdir(dirname(path))).sort()
const basename = (path: string) => path.slice(dirname(path).length + 1)

async function pushedProject() {
  const project = await harness.project()
  const work = await createGitRepository()
  await work.commit({ files: { 'a.txt': 'a' } })
  await work.git('push', '--quiet', harness.remote('owner', project), 'HEAD:refs/heads/main')
  await work.close()
  return { project, path: harness.pathOf(project) }
}

test('the remains of killed deletions and creations are removed after an hour, and no other files', async () => {
  const { path } = await pushedProject()
  const removed = `${path}.${randomUUID()}.removed`
  const created = `${path}.${randomUUID()}.new`
  const copy = `${path}.arriving.${randomUUID()}.removed`
  const young = `${path}.${randomUUID()}.removed`
  const foreign = `${path}.kept-by-hand`
  for (const folder of [removed, created, copy, young, foreign])
    await mkdir(join(folder, 'objects'), { recursive: true })
  for (const folder of [removed, created, copy, foreign, path]) await age(folder)
  await sweep()
  expect(await namesBeside(path)).toEqual([path, young, foreign].map(basename).sort())
})

test('the repository of a deleted project is removed when the process was killed between its row and its files', async () => {
  const { project, path } = await pushedProject()
  const { body } = await harness.ask('owner', 'GET', `/projects/${project.id}`)
  expect(body.id).toBe(project.id)
  await harness.database.prisma.project.delete({ where: { id: project.id } })
  await age(path)
  // Without the audit entry of its deletion, it may belong to another database.
  await sweep()
  expect(await namesBeside(path)).toContain(basename(path))
  const event = { authorName: 'Olga', eventName: 'project_destroyed', entityType: 'Project' }
  await harness.database.prisma.auditEvent.create({
    data: { ...event, entityId: String(project.id), details: {} },
  })
  await age(path, 0)
  await sweep()
  expect(await namesBeside(path)).toContain(basename(path))
  await age(path)
  await sweep()
  expect(await namesBeside(path)).not.toContain(basename(path))
})

test('an empty repository whose project was never stored is removed', async () => {
  const diskPath = diskPathOf(2_000_000_000)
  await git.createRepository(diskPath, 'main')
  const path = join(harness.storageRoot, diskPath)
  await sweep()
  expect(await namesBeside(path)).toEqual([basename(path)])
  await age(path)
  await sweep()
  expect(await namesBeside(path)).toEqual([])
})

test('uploads that broke off long ago are removed, also in repositories without a known project, and no other files', async () => {
  const { path } = await pushedProject()
  const diskPath = diskPathOf(2_000_000_001)
  await git.createRepository(diskPath, 'main')
  const unknown = join(harness.storageRoot, diskPath)
  for (const folder of [path, unknown]) {
    await mkdir(join(folder, 'lfs/tmp'), { recursive: true })
    await mkdir(join(folder, 'lfs/objects'))
    for (const name of ['tmp/young', 'tmp/old', 'objects/old'])
      await writeFile(join(folder, 'lfs', name), 'bytes')
    for (const name of ['tmp/old', 'objects/old']) await age(join(folder, 'lfs', name))
  }
  await sweep()
  for (const folder of [path, unknown]) {
    expect(await readdir(join(folder, 'lfs/tmp'))).toEqual(['young'])
    expect(await readdir(join(folder, 'lfs/objects'))).toEqual(['old'])
  }
})
