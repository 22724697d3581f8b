import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Project } from '@switchyard/db'
import { isolatedGitEnv } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

const gitLfs = process.env.SWITCHYARD_TEST_GIT_LFS
const largeBytes = 20 * 1024 * 1024

let harness: GitHarness
let folder: string
let line: Awaited<ReturnType<typeof startLine>>

beforeAll(async () => {
  harness = await startGitHarness()
  folder = await mkdtemp(join(tmpdir(), 'switchyard-lfs-'))
  line = await startLine(harness.baseUrl)
})
afterAll(async () => {
  line?.server.close()
  await harness?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Starts a proxy to the service. It records downloads, and can break the next one. */
async function startLine(baseUrl: string) {
  const downloads: { range: string | undefined; status: number | undefined }[] = []
  const state = { breaksNext: false }
  const server: Server = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming
    const forwarded = httpRequest(baseUrl + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
      if (method === 'GET' && url.includes('/gitlab-lfs/')) {
        downloads.push({ range: headers.range, status: answer.statusCode })
        if (state.breaksNext) {
          state.breaksNext = false
          let bytes = 0
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length
            if (bytes > largeBytes / 4) outgoing.destroy()
          })
        }
      }
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, downloads, state, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

type Who = keyof GitHarness['tokens']

const remote = (who: Who, project: Project) =>
  harness.remote(who, project).replace(new URL(harness.baseUrl).host, new URL(line.baseUrl).host)

const environment = () => {
  const { PATH = '', ...env } = isolatedGitEnv()
  const settings = {
    'maintenance.auto': 'false',
    'user.name': 'Test',
    'user.email': 'test@example.com',
    'filter.lfs.clean': 'git-lfs clean -- %f',
    'filter.lfs.smudge': 'git-lfs smudge -- %f',
    'filter.lfs.process': 'git-lfs filter-process',
    'filter.lfs.required': 'true',
  }
  const configuration = Object.entries(settings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    ...env,
    PATH: `${dirname(gitLfs ?? '')}:${PATH}`,
    GIT_CONFIG_COUNT: String(Object.keys(settings).length),
    ...Object.fromEntries(configuration),
  }
}

/** Runs git. @returns exit code and output of both streams */
async function git(cwd: string, ...args: string[]) {
  const { all, exitCode } = await execa('git', args, {
    cwd,
    env: environment(),
    extendEnv: false,
    all: true,
    reject: false,
  })
  return { code: exitCode, text: all }
}

async function mustGit(cwd: string, ...args: string[]): Promise<string> {
  const { code, text } = await git(cwd, ...args)
  expect(code, `git ${args.join(' ')}: ${text}`).toBe(0)
  return text
}

/** Clones the project for one of the callers. */
async function cloneOf(who: Who, project: Project, name: string): Promise<string> {
  const path = join(folder, name)
  await mustGit(folder, 'clone', '--quiet', remote(who, project), path)
  await mustGit(path, 'lfs', 'install', '--local')
  return path
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe.skipIf(!gitLfs)('git lfs', () => {
  let project: Project
  let work: string
  const small = randomBytes(1000)
  const large = randomBytes(largeBytes)

  beforeAll(async () => {
    project = await harness.project()
    work = await cloneOf('developer', project, 'work')
    await mustGit(work, 'checkout', '--quiet', '-b', 'main')
    await mustGit(work, 'lfs', 'track', '--lockable', '*.bin')
    await writeFile(join(work, 'small.bin'), small)
    await writeFile(join(work, 'large.bin'), large)
    await mustGit(work, 'add', '--all')
    await mustGit(work, 'commit', '--quiet', '-m', 'Objects')
    await mustGit(work, 'push', '--quiet', 'origin', 'main')
  })

  test('pushes small and large objects, which a clone has', async () => {
    const copy = await cloneOf('reporter', project, 'copy')
    expect((await readFile(join(copy, 'small.bin'))).equals(small)).toBe(true)
    expect(sha256(await readFile(join(copy, 'large.bin')))).toBe(sha256(large))
    const pointer = await mustGit(copy, 'show', 'HEAD:large.bin')
    expect(pointer).toContain(`oid sha256:${sha256(large)}\nsize ${largeBytes}`)
    expect(await mustGit(copy, 'lfs', 'fsck')).toContain('OK')
  })

  test('resumes an interrupted download', async () => {
    line.downloads.length = 0
    line.state.breaksNext = true
    const path = join(folder, 'resumed')
    await mustGit(
      folder,
      '-c',
      'lfs.concurrenttransfers=1',
      'clone',
      '--quiet',
      remote('reporter', project),
      path,
    )
    expect(sha256(await readFile(join(path, 'large.bin')))).toBe(sha256(large))
    expect(line.downloads).toContainEqual({ range: expect.stringMatching(/^bytes=\d+-/), status: 206 })
  })

  test('locks a file for one user, and stops the push of another user', async () => {
    const other = await cloneOf('owner', project, 'other')
    expect(await mustGit(work, 'lfs', 'lock', 'small.bin')).toContain('Locked small.bin')
    expect((await git(other, 'lfs', 'lock', 'small.bin')).code).not.toBe(0)
    expect(await mustGit(other, 'lfs', 'locks', '--verify')).toContain('dora')

    await mustGit(other, 'config', `lfs.${remote('owner', project)}/info/lfs.locksverify`, 'true')
    await rm(join(other, 'small.bin'))
    await writeFile(join(other, 'small.bin'), randomBytes(1000))
    await mustGit(other, 'commit', '--quiet', '-am', 'Change what is locked')
    const stopped = await git(other, 'push', 'origin', 'HEAD:refs/heads/theirs')
    expect(stopped.code).not.toBe(0)
    expect(stopped.text).toContain('small.bin - dora')

    expect((await git(other, 'lfs', 'unlock', 'small.bin')).code).not.toBe(0)
    await mustGit(other, 'lfs', 'unlock', '--force', 'small.bin')
    await mustGit(other, 'push', '--quiet', 'origin', 'HEAD:refs/heads/theirs')
    expect(await mustGit(work, 'lfs', 'locks')).toBe('')
  })

  test('receives the advice to push its objects after a push without them', async () => {
    const copy = await cloneOf('developer', project, 'forgetful')
    const bytes = randomBytes(500)
    await writeFile(join(copy, 'forgotten.bin'), bytes)
    await mustGit(copy, 'add', '--all')
    await mustGit(copy, 'commit', '--quiet', '-m', 'Without its object')
    const refused = await git(copy, 'push', '--no-verify', 'origin', 'HEAD:refs/heads/forgetful')
    expect(refused.code).not.toBe(0)
    expect(refused.text).toContain('LFS objects are missing.')
    await mustGit(copy, 'lfs', 'push', '--all', 'origin')
    await mustGit(copy, 'push', '--no-verify', '--quiet', 'origin', 'HEAD:refs/heads/forgetful')
  })

  test('pushes nothing for a reader', async () => {
    const copy = await cloneOf('reporter', project, 'reading')
    await writeFile(join(copy, 'new.bin'), randomBytes(500))
    await mustGit(copy, 'add', '--all')
    await mustGit(copy, 'commit', '--quiet', '-m', 'Not allowed')
    expect((await git(copy, 'push', 'origin', 'HEAD:refs/heads/mine')).text).toContain('403')
    const { code, text } = await git(copy, 'lfs', 'push', 'origin', 'HEAD')
    expect(code).not.toBe(0)
    expect(text).toContain('You need at least the role Developer in this project')
    expect((await git(copy, 'lfs', 'lock', 'small.bin')).code).not.toBe(0)
  })
})
