import { createHash, randomBytes } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { createGitRepository, isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'
import { lfsRequests } from './lfs-requests.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository

beforeAll(async () => {
  harness = await startGitHarness()
})
beforeEach(async () => {
  project = await harness.project()
  work = await createGitRepository()
  return () => work.close()
})
afterAll(() => harness?.close())

const refusal = 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'

function newObject() {
  const bytes = randomBytes(1000)
  const oid = createHash('sha256').update(bytes).digest('hex')
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${bytes.length}\n`
  return { bytes, oid, pointer }
}

async function store({ bytes, oid }: ReturnType<typeof newObject>): Promise<void> {
  const { send } = lfsRequests(harness, project)
  const { status } = await send('developer', 'PUT', `/gitlab-lfs/objects/${oid}/${bytes.length}`, bytes)
  expect(status).toBe(200)
}

/** Pushes without git-lfs. @returns exit code and output of git */
async function push(...references: string[]) {
  const { exitCode, all } = await execa('git', ['push', harness.remote('owner', project), ...references], {
    cwd: work.path,
    env: isolatedGitEnv(),
    all: true,
    reject: false,
  })
  return { code: exitCode, text: all }
}

const references = () => work.git('ls-remote', harness.remote('owner', project))

test('a push whose pointers have no object is refused, also for a tag, and changes nothing', async () => {
  const object = newObject()
  await work.commit({ files: { 'a.txt': 'a', 'deep/a.bin': object.pointer } })
  await work.commit({ files: { 'b.txt': 'b' } })
  const refused = await push('main', 'main:refs/tags/v1', 'main:refs/notes/n')
  expect(refused.code).not.toBe(0)
  for (const name of ['main', 'v1', 'refs/notes/n']) {
    expect(refused.text).toMatch(
      new RegExp(`\\[remote rejected\\] main -> ${name} \\(LFS objects are missing`),
    )
  }
  expect(refused.text).toContain(refusal)
  expect(await references()).toBe('')

  await store(object)
  expect(await push('main', 'main:refs/tags/v1')).toMatchObject({ code: 0 })
})

test('an object of another size does not satisfy a pointer', async () => {
  const object = newObject()
  await store(object)
  await work.commit({ files: { 'a.bin': object.pointer.replace('size 1000', 'size 999') } })
  expect((await push('main')).text).toContain(refusal)
})

test('commits in the repository are not checked again, and references can be deleted', async () => {
  const { pointer } = newObject()
  await work.commit({ files: { 'a.bin': pointer } })
  const settings = `/projects/${project.id}`
  await harness.ask('owner', 'PUT', settings, { lfs_enabled: false })
  expect(await push('main', 'main:refs/heads/other')).toMatchObject({ code: 0 })
  await harness.ask('owner', 'PUT', settings, { lfs_enabled: true })
  await work.commit({ files: { 'b.txt': 'b' } })
  expect(await push('main', ':refs/heads/other')).toMatchObject({ code: 0 })
  await work.commit({ files: { 'b.bin': newObject().pointer } })
  expect((await push('main')).text).toContain(refusal)
})

test('files that only look like pointers, and a tag of a large file, are accepted', async () => {
  const { pointer } = newObject()
  await work.commit({
    files: {
      'long.txt': `${pointer}${'x'.repeat(2000)}`,
      'md5.txt': pointer.replace('sha256', 'md5'),
      'empty.txt': '',
      'second.txt': `\n${pointer}`,
    },
  })
  await work.commit({ files: { 'large.txt': 'x'.repeat(3_000_000) } })
  await work.git('tag', 'large', 'HEAD:large.txt')
  expect(await push('main', 'large')).toMatchObject({ code: 0 })
})
