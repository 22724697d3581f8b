import { randomBytes } from 'node:crypto'
import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import {
  deleteLfsObjects,
  listReleasedLfsObjects,
  type Project,
  reclaimLfsObjects,
  recordLfsObjects,
} from '@switchyard/db'
import { tidyRepository } from '@switchyard/git-storage/housekeeping'
import { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

const kibibyte = 1024
let harness: GitHarness

beforeAll(async () => {
  harness = await startGitHarness({ env: { PROJECT_STORAGE_BYTES_MAX: String(400 * kibibyte) } })
})
afterAll(() => harness?.close())

const token = () => ({ 'PRIVATE-TOKEN': harness.tokens.owner })
const urlOf = ({ id }: Project, path: string) => `${harness.baseUrl}/api/v4/projects/${id}${path}`

async function publish(project: Project, name: string, body: Uint8Array<ArrayBuffer>) {
  const url = urlOf(project, `/packages/generic/${name}/1/f?select=package_file`)
  const answer = await fetch(url, { method: 'PUT', headers: token(), body })
  return { status: answer.status, body: (await answer.json()) as { message: string; package_id: number } }
}
const remove = async (project: Project, path: string) =>
  (await harness.ask('owner', 'DELETE', `/projects/${project.id}${path}`)).status

const filesBytes = async ({ id }: Project) =>
  (await harness.ask('owner', 'GET', `/projects/${id}?statistics=true`)).body.statistics.lfs_objects_size

/** Runs the housekeeping of the worker. */
async function tidy(project: Project) {
  const { database } = harness
  await tidyRepository(harness.pathOf(project), AbortSignal.timeout(60_000), {
    lfsObjectNotes: {
      listReleased: () => listReleasedLfsObjects(database, project.id),
      reclaim: (oids) => reclaimLfsObjects(database, project.id, oids),
      forget: (oids) => deleteLfsObjects(database, project.id, oids),
    },
  })
}

/** Returns the stored files after making all of them old. */
async function oldFiles(project: Project, hours = 2): Promise<string[]> {
  const folder = join(harness.pathOf(project), 'lfs/objects')
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((it) => it.isFile())
  const when = new Date(Date.now() - hours * 3_600_000)
  for (const { parentPath, name } of files) await utimes(join(parentPath, name), when, when)
  return files.map(({ name }) => name)
}

test('a deleted file frees the quota at once, and the disk never holds more than twice the quota', async () => {
  const project = await harness.project()
  const first = await publish(project, 'one', randomBytes(300 * kibibyte))
  expect((await publish(project, 'two', randomBytes(300 * kibibyte))).status).toBe(413)
  expect(await remove(project, `/packages/${first.body.package_id}`)).toBe(204)
  expect(await filesBytes(project)).toBe(0)

  expect((await publish(project, 'two', randomBytes(300 * kibibyte))).status).toBe(201)
  expect(await remove(project, '/packages/generic/two/1/f')).toBe(204)
  const refused = await publish(project, 'three', randomBytes(300 * kibibyte))
  const sentence =
    'This project may take 400 KiB; there is no room for 300 KiB more until 600 KiB of deleted files are removed'
  expect([refused.status, refused.body.message]).toEqual([413, expect.stringContaining(sentence)])

  await tidy(project)
  expect(await oldFiles(project)).toHaveLength(2)
  await tidy(project)
  expect(await oldFiles(project)).toEqual([])
  expect((await publish(project, 'three', randomBytes(300 * kibibyte))).status).toBe(201)
  expect(await filesBytes(project)).toBe(300 * kibibyte)
})

test('a deleted upload frees its quota, and counts again when its bytes are stored again', async () => {
  const project = await harness.project()
  const bytes = randomBytes(100 * kibibyte)
  const form = new FormData()
  form.set('file', new Blob([bytes]), 'a.zip')
  const init = { method: 'POST', headers: token(), body: form }
  const uploaded = (await (await fetch(urlOf(project, '/uploads'), init)).json()) as { id: number }
  expect(await filesBytes(project)).toBe(100 * kibibyte)
  expect(await remove(project, `/uploads/${uploaded.id}`)).toBe(204)
  expect(await filesBytes(project)).toBe(0)
  await publish(project, 'again', bytes)
  expect(await filesBytes(project)).toBe(100 * kibibyte)
  const use = await harness.database.prisma.storageUse.findUniqueOrThrow({ where: { projectId: project.id } })
  expect(use).toMatchObject({ lfsBytes: 102_400n, releasedBytes: 0n })
})

test('bytes that another file shares stay counted, even when both are changed at the same time', async () => {
  const project = await harness.project()
  const bytes = randomBytes(10 * kibibyte)
  for (const name of ['one', 'two']) await publish(project, name, bytes)
  expect(await remove(project, '/packages/generic/one/1/f')).toBe(204)
  expect(await filesBytes(project)).toBe(10 * kibibyte)
  for (let round = 0; round < 5; round += 1) {
    const names = round % 2 === 0 ? (['two', 'one'] as const) : (['one', 'two'] as const)
    const [status, { status: published }] = await Promise.all([
      remove(project, `/packages/generic/${names[0]}/1/f`),
      publish(project, names[1], bytes),
    ])
    expect([status, published]).toEqual([204, 201])
    expect(await filesBytes(project)).toBe(10 * kibibyte)
  }
})

test('an object with a pointer of Git LFS is counted again, and stays', async () => {
  const project = await harness.project()
  const bytes = randomBytes(10 * kibibyte)
  await publish(project, 'app', bytes)
  const [{ oid } = { oid: '' }] = await harness.database.prisma.lfsObject.findMany({
    where: { projectId: project.id },
  })
  const work = await createGitRepository()
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${bytes.length}\n`
  await work.commit({ files: { 'a.bin': pointer } })
  await work.git('push', '--quiet', harness.remote('owner', project), 'HEAD:main')
  await work.close()
  expect(await remove(project, '/packages/generic/app/1/f')).toBe(204)
  expect(await filesBytes(project)).toBe(0)
  await oldFiles(project, 24 * 30)
  await tidy(project)
  expect(await oldFiles(project)).toEqual([oid])
  expect(await filesBytes(project)).toBe(10 * kibibyte)
  await recordLfsObjects(harness.database, project.id, [{ oid, size: bytes.length }])
  expect(await filesBytes(project)).toBe(10 * kibibyte)
})
