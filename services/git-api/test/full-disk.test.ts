import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createGitRepository, findNoSmallDisk, mountSmallDisk, type SmallDisk } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from './git-harness.js'
import { startGitProcess } from './git-process.js'

const mebibyte = 1024 ** 2
const reason = await findNoSmallDisk()
if (reason) console.error(`SKIPPED: writes to a full disk are not tried, because ${reason}`)

describe.skipIf(reason)('on a full disk', () => {
  let disk: SmallDisk
  let harness: GitHarness
  let service: Awaited<ReturnType<typeof startGitProcess>>

  beforeAll(async () => {
    disk = await mountSmallDisk(64 * mebibyte)
    harness = await startGitHarness({ storageRoot: join(disk.path, 'repositories') })
    service = await startGitProcess(harness, { LOG_LEVEL: 'warn' })
  })
  afterAll(async () => {
    await service?.kill()
    await harness?.close()
    await disk?.close()
  })

  const send = (method: string, path: string, body?: object) =>
    harness.send('developer', method, path, body, service.baseUrl)

  test('pushes, commits, tags and LFS objects are refused with 507 and a log line; reading and deleting continue', async () => {
    const project = await harness.project()
    const work = await createGitRepository()
    const remote = new URL(harness.remote('developer', project))
    remote.port = new URL(service.baseUrl).port
    await work.commit({ files: { a: 'one\n' } })
    await work.git('push', '--quiet', remote.href, 'HEAD:main', 'HEAD:gone')

    // A twentieth of the disk, which is kept free, is 3.2 MiB.
    await disk.fill(2 * mebibyte)
    const answer =
      '507 Insufficient Storage - the disk of the repositories has 2 MiB left, and 3.2 MiB are kept free'
    const writes = [
      await send('POST', `/projects/${project.id}/repository/files/b`, {
        branch: 'main',
        content: 'b',
        commit_message: 'Add',
      }),
      await send('POST', `/projects/${project.id}/repository/tags`, {
        tag_name: 'v',
        ref: 'main',
        message: 'Text',
      }),
    ]
    const bytes = randomBytes(100)
    const oid = createHash('sha256').update(bytes).digest('hex')
    const headers = {
      Authorization: `Basic ${Buffer.from(`any:${harness.tokens.developer}`).toString('base64')}`,
      'Content-Type': 'application/octet-stream',
    }
    const object = `${service.baseUrl}/${project.pathWithNamespace}.git/gitlab-lfs/objects/${oid}/100`
    writes.push(await fetch(object, { method: 'PUT', headers, body: bytes }))
    for (const response of writes) {
      expect([response.status, JSON.parse(await response.text()).message]).toEqual([507, answer])
    }

    await work.commit({ files: { c: 'three\n' } })
    await expect(work.git('push', remote.href, 'HEAD:main')).rejects.toThrow(
      'the disk of the repositories has 2 MiB left, and 3.2 MiB are kept free',
    )
    const refusals = service.output().match(/refused a write: the disk is full/g)
    expect(refusals?.length).toBe(4)

    expect((await send('GET', `/projects/${project.id}/repository/files/a/raw?ref=main`)).status).toBe(200)
    expect(await work.git('ls-remote', remote.href)).toContain('refs/heads/gone')
    await work.git('push', '--quiet', remote.href, ':gone')
    expect((await send('GET', `/projects/${project.id}/repository/branches/gone`)).status).toBe(404)
    await disk.makeRoom()
    await work.git('push', '--quiet', remote.href, 'HEAD:main')
    await work.close()
  })

  test('a disk that fills up while git writes leads to 507, or to a refused push, and leaves no files', async () => {
    const project = await harness.project()
    const work = await createGitRepository()
    const remote = new URL(harness.remote('developer', project))
    remote.port = new URL(service.baseUrl).port
    await work.commit({ files: { a: 'one\n' } })
    await work.git('push', '--quiet', remote.href, 'HEAD:main')
    await work.commit({ files: { big: randomBytes(8 * mebibyte) } })
    await disk.fill(6 * mebibyte)
    await expect(work.git('push', remote.href, 'HEAD:main')).rejects.toThrow(
      'pack exceeds maximum allowed size',
    )

    await disk.fill(0)
    const branch = await send('POST', `/projects/${project.id}/repository/branches`, {
      branch: 'x',
      ref: 'main',
    })
    expect([branch.status, JSON.parse(await branch.text()).message]).toEqual([
      507,
      '507 Insufficient Storage - a disk of the server is full',
    ])
    expect(service.output()).toContain("couldn't write")
    const names = await readdir(harness.pathOf(project), { recursive: true })
    expect(names.filter((name) => /tmp_|\.lock$/.test(name))).toEqual([])
    await disk.makeRoom()
    await work.git('push', '--quiet', remote.href, 'HEAD:main')
    await work.close()
  })
})
