import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tidyRepository } from '@switchyard/git-storage/housekeeping'
import { findLfsObject } from '@switchyard/git-storage/lfs'
import { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from '../harness.js'
import { pushedProject, tidied } from './pushed-project.js'

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

const lfsObjectNotes = { listReleased: async () => [], reclaim: async () => {}, forget: async () => [] }

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000)

/** Stores an object of Git LFS in a project. @returns its pointer */
async function storedObject({ project, bare }: { project: { id: number }; bare: string }, storedAt: Date) {
  const oid = createHash('sha256').update(randomUUID()).digest('hex')
  const folder = join(bare, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, oid), 'bytes')
  await utimes(join(folder, oid), storedAt, storedAt)
  await harness.database.prisma.lfsObject.create({ data: { projectId: project.id, oid, size: 5 } })
  return { oid, pointer: `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 5\n` }
}

it('housekeeping removes Git LFS objects without a pointer, after two weeks, once a week', async () => {
  const pushed = await pushedProject(harness)
  const { project, bare } = pushed
  const old = daysAgo(15)
  const needed = await storedObject(pushed, old)
  const formerlyNeeded = await storedObject(pushed, old)
  const unneeded = await storedObject(pushed, old)
  const young = await storedObject(pushed, daysAgo(13))
  const source = await createGitRepository()
  await source.commit({ files: { 'deep/a.bin': needed.pointer, 'b.txt': 'b' } })
  await source.git('push', '--quiet', bare, 'HEAD:refs/heads/lfs')
  await source.commit({ files: { 'b.bin': formerlyNeeded.pointer } })
  await source.git('push', '--quiet', bare, 'HEAD:refs/heads/gone')
  await source.git('push', '--quiet', bare, ':refs/heads/gone')
  await source.close()
  const stored = async () => {
    const entries = await readdir(join(bare, 'lfs/objects'), { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  }
  await tidied(harness, project.id)
  expect(await stored()).toHaveLength(4)

  await utimes(join(bare, 'switchyard-collected'), daysAgo(8), daysAgo(8))
  await tidied(harness, project.id)
  // git keeps unreachable objects for two weeks as well.
  const kept = [needed, formerlyNeeded, young].map(({ oid }) => oid).sort()
  expect((await stored()).sort()).toEqual(kept)
  expect(kept).not.toContain(unneeded.oid)
  const rows = await harness.database.prisma.lfsObject.findMany({ where: { projectId: project.id } })
  expect(rows.map(({ oid }) => oid).sort()).toEqual(kept)

  await tidyRepository(bare, new AbortController().signal, {
    collectEveryMs: 0,
    grace: 'now',
    lfsObjectNotes,
  })
  expect((await stored()).sort()).toEqual([needed.oid, young.oid].sort())
})

it('housekeeping keeps an object as long as a package or an upload has it', async () => {
  const pushed = await pushedProject(harness)
  const { project, bare } = pushed
  const { prisma } = harness.database
  const ofProject = { projectId: project.id }
  const packaged = await storedObject(pushed, daysAgo(15))
  const uploaded = await storedObject(pushed, daysAgo(15))
  const free = await storedObject(pushed, daysAgo(15))
  await prisma.storageUse.create({ data: { ...ofProject, lfsBytes: 15 } })
  const made = await prisma.package.create({ data: { ...ofProject, name: 'app', version: '1' } })
  await prisma.packageFile.create({
    data: { ...ofProject, packageId: made.id, fileName: 'app.zip', oid: packaged.oid },
  })
  await prisma.upload.create({
    data: { ...ofProject, secret: randomUUID(), fileName: 'a.png', oid: uploaded.oid },
  })
  const collected = async () => {
    await writeFile(join(bare, 'switchyard-collected'), '')
    await utimes(join(bare, 'switchyard-collected'), daysAgo(8), daysAgo(8))
    await tidied(harness, project.id)
    const rows = await prisma.lfsObject.findMany({ where: ofProject })
    const files = await readdir(join(bare, 'lfs/objects'), { recursive: true, withFileTypes: true })
    const stored = files.filter((file) => file.isFile()).map(({ name }) => name)
    expect(rows.map(({ oid }) => oid).sort()).toEqual(stored.sort())
    return stored
  }
  expect(await collected()).toEqual([packaged.oid, uploaded.oid].sort())
  expect(await prisma.storageUse.findUniqueOrThrow({ where: ofProject })).toMatchObject({ lfsBytes: 10n })
  expect(free.oid).not.toBe(packaged.oid)

  await prisma.package.deleteMany({ where: ofProject })
  expect(await collected()).toEqual([uploaded.oid])
  await prisma.project.delete({ where: { id: project.id } })
  expect(await prisma.upload.count({ where: ofProject })).toBe(0)
})

it('housekeeping removes the bytes of deleted files after an hour, and counts objects with a pointer again', async () => {
  const pushed = await pushedProject(harness)
  const { project, bare } = pushed
  const { prisma } = harness.database
  const ofProject = { projectId: project.id }
  const hoursAgo = (hours: number) => daysAgo(hours / 24)
  const gone = await storedObject(pushed, hoursAgo(2))
  const named = await storedObject(pushed, hoursAgo(2))
  const young = await storedObject(pushed, hoursAgo(0.5))
  await prisma.lfsObject.updateMany({ where: ofProject, data: { releasedAt: new Date() } })
  await prisma.storageUse.create({ data: { ...ofProject, releasedBytes: 15 } })
  const source = await createGitRepository()
  await source.commit({ files: { 'a.bin': named.pointer } })
  await source.git('push', '--quiet', bare, 'HEAD:refs/heads/lfs')
  await source.close()

  await tidied(harness, project.id)
  const rows = await prisma.lfsObject.findMany({ where: ofProject })
  const released = new Map(rows.map(({ oid, releasedAt }) => [oid, releasedAt !== null]))
  expect(released).toEqual(
    new Map([
      [named.oid, false],
      [young.oid, true],
    ]),
  )
  expect(await findLfsObject({ path: bare }, gone.oid)).toBeNull()
  expect(await findLfsObject({ path: bare }, young.oid)).toBe(5)
  const use = await prisma.storageUse.findUniqueOrThrow({ where: ofProject })
  expect(use).toMatchObject({ lfsBytes: 5n, releasedBytes: 5n })
})
