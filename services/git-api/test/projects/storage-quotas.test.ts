import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

const kibibyte = 1024
const projectMax = 400 * kibibyte

let harness: GitHarness
let rootToken: string

beforeAll(async () => {
  harness = await startGitHarness({
    env: { PROJECT_STORAGE_BYTES_MAX: String(projectMax), USER_STORAGE_BYTES_MAX: '0' },
  })
  rootToken = 'root-token-of-the-tests-0123456789'
})
afterAll(() => harness?.close())

/** Returns text that does not compress. */
const noise = (bytes: number) =>
  randomBytes(Math.ceil(bytes * 0.75))
    .toString('base64')
    .slice(0, bytes)

const commit = (project: Project, name: string, content: string, branch = 'main') =>
  harness.ask('developer', 'POST', `/projects/${project.id}/repository/commits`, {
    branch,
    commit_message: 'Add',
    actions: [{ action: 'create', file_path: name, content }],
  })

async function statisticsOf(project: Project) {
  const { body } = await harness.ask('owner', 'GET', `/projects/${project.id}?statistics=true`)
  return body.statistics
}

const asRoot = async (method: string, path: string, body: unknown) => {
  const response = await fetch(`${harness.baseUrl}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': rootToken, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

/** Returns a clone of the developer. */
async function workOn(project: Project) {
  const work = await createGitRepository()
  await work.git('remote', 'add', 'origin', harness.remote('developer', project))
  return work
}

const sentence = (size: string) =>
  new RegExp(
    `The repository, the LFS objects and the files of this project may take 400 KiB and take ${size}; there is no room for [\\d.]+ [KM]iB more`,
  )

describe('beyond the size limit of a project', () => {
  test('a commit of the API is refused with limit and current size, and leaves no files', async () => {
    const project = await harness.project()
    expect((await commit(project, 'a', noise(300 * kibibyte))).status).toBe(201)
    const before = await harness.ask('owner', 'GET', `/projects/${project.id}/repository/branches/main`)
    const refused = await commit(project, 'b', noise(300 * kibibyte))
    expect(refused.status).toBe(400)
    expect(refused.body.message).toMatch(sentence('2\\d\\d(\\.\\d)? KiB'))
    const after = await harness.ask('owner', 'GET', `/projects/${project.id}/repository/branches/main`)
    expect(after.body.commit.id).toBe(before.body.commit.id)
    const { storage_size, storage_size_limit } = await statisticsOf(project)
    expect(storage_size_limit).toBe(projectMax)
    expect(storage_size).toBeLessThan(projectMax)
  })

  test('a large commit, which becomes a pack, is refused and leaves no file', async () => {
    const project = await harness.project()
    const refused = await commit(project, 'a', noise(2 * 1024 * kibibyte))
    expect(refused.body.message).toMatch(sentence('0 bytes'))
    const names = await readdir(join(harness.pathOf(project), 'objects'), { recursive: true })
    expect(names.filter((name) => /pack-|tmp/.test(name))).toEqual([])
  })

  test('git reports why a push is refused; its objects are removed; a push that only deletes passes', async () => {
    const project = await harness.project()
    const work = await workOn(project)
    await work.commit({ files: { a: noise(300 * kibibyte) } })
    await work.git('push', '--quiet', 'origin', 'HEAD:main', 'HEAD:gone')
    await work.commit({ files: { b: noise(300 * kibibyte) } })
    await expect(work.git('push', 'origin', 'HEAD:main')).rejects.toThrow(sentence('[\\d.]+ KiB'))
    const names = await readdir(join(harness.pathOf(project), 'objects'), { recursive: true })
    expect(names.filter((name) => name.includes('tmp'))).toEqual([])
    expect((await statisticsOf(project)).storage_size).toBeLessThan(projectMax)
    await asRoot('PUT', `/projects/${project.id}`, { repository_size_limit: 1 })
    await work.git('push', '--quiet', 'origin', ':gone')
    const gone = await harness.ask('owner', 'GET', `/projects/${project.id}/repository/branches/gone`)
    expect(gone.status).toBe(404)
  })

  test('a cherry-pick, a revert, an annotated tag and a file of the API are refused', async () => {
    const project = await harness.project()
    await commit(project, 'a', 'one\n')
    await harness.ask('developer', 'POST', `/projects/${project.id}/repository/branches`, {
      branch: 'side',
      ref: 'main',
    })
    const side = await commit(project, 'b', 'two\n', 'side')
    await asRoot('PUT', `/projects/${project.id}`, { repository_size_limit: 1 })
    const ask = (path: string, body: object) =>
      harness.ask('developer', 'POST', `/projects/${project.id}/repository/${path}`, body)
    const answers = [
      await ask(`commits/${side.body.id}/cherry_pick`, { branch: 'main' }),
      await ask(`commits/${side.body.id}/revert`, { branch: 'side' }),
      await ask('tags', { tag_name: 'v1', ref: 'main', message: 'Text' }),
      await ask('files/c', { branch: 'main', content: 'c', commit_message: 'Add' }),
    ]
    for (const { status, body } of answers) {
      expect([status, body.message]).toEqual([400, expect.stringContaining('may take 1 bytes and take')])
    }
    const dry = await ask(`commits/${side.body.id}/cherry_pick`, { branch: 'main', dry_run: true })
    expect(dry.status).toBe(200)
  })

  test('an LFS object is refused in the batch and at its upload, and smaller ones are not', async () => {
    const project = await harness.project()
    const send = async (
      path: string,
      method: string,
      body: string | Uint8Array<ArrayBuffer>,
      type: string,
    ) => {
      const url = new URL(`${harness.remote('developer', project)}${path}`)
      const credentials = Buffer.from(`any:${url.password}`).toString('base64')
      url.username = ''
      url.password = ''
      const headers = { Authorization: `Basic ${credentials}`, 'Content-Type': type }
      return fetch(url, { method, headers, body })
    }
    const batch = async (bytes: Buffer) => {
      const oid = createHash('sha256').update(bytes).digest('hex')
      const request = { operation: 'upload', objects: [{ oid, size: bytes.length }] }
      const answer = await send(
        '/info/lfs/objects/batch',
        'POST',
        JSON.stringify(request),
        'application/vnd.git-lfs+json',
      )
      const put = () =>
        send(
          `/gitlab-lfs/objects/${oid}/${bytes.length}`,
          'PUT',
          new Uint8Array(bytes),
          'application/octet-stream',
        )
      return { object: JSON.parse(await answer.text()).objects[0], put }
    }
    const first = await batch(randomBytes(300 * kibibyte))
    expect(first.object.actions.upload).toBeDefined()
    expect((await first.put()).status).toBe(200)
    const second = await batch(randomBytes(200 * kibibyte))
    expect(second.object.error).toEqual({ code: 422, message: expect.stringMatching(sentence('300 KiB')) })
    const refused = await second.put()
    expect([refused.status, JSON.parse(await refused.text()).message]).toEqual([
      413,
      expect.stringMatching(sentence('300 KiB')),
    ])
    expect((await commit(project, 'a', noise(200 * kibibyte))).status).toBe(400)
    expect(await statisticsOf(project)).toMatchObject({ lfs_objects_size: 300 * kibibyte })
  })

  test('parallel commits cannot exceed the limit', async () => {
    const project = await harness.project()
    await commit(project, 'a', 'start\n')
    const content = () => noise(100 * kibibyte)
    const started = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        harness.ask('developer', 'POST', `/projects/${project.id}/repository/commits`, {
          branch: `branch-${index}`,
          start_branch: 'main',
          commit_message: 'Add',
          actions: [{ action: 'create', file_path: `file-${index}`, content: content() }],
        }),
      ),
    )
    expect(started.filter(({ status }) => status === 201).length).toBeLessThan(8)
    expect(started.filter(({ status }) => status === 201).length).toBeGreaterThan(2)
    expect((await statisticsOf(project)).repository_size).toBeLessThanOrEqual(projectMax + 64 * kibibyte)
  })
})

describe('the size limit of a single project', () => {
  test('is set only by administrators, read back as given, and replaces the limit of the installation', async () => {
    const project = await harness.project()
    const path = `/projects/${project.id}`
    const byOwner = await harness.ask('owner', 'PUT', path, { repository_size_limit: 0 })
    expect([byOwner.status, byOwner.body.message]).toEqual([
      403,
      '403 Forbidden - Only administrators can set repository_size_limit',
    ])
    for (const value of [0, 5, 3_000_000_000, null]) {
      expect((await asRoot('PUT', path, { repository_size_limit: value })).body.repository_size_limit).toBe(
        value,
      )
      expect((await harness.ask('owner', 'GET', path)).body.repository_size_limit).toBe(value)
      expect((await harness.ask('owner', 'PUT', path, { repository_size_limit: value })).status).toBe(200)
    }
    for (const value of [-1, 1.5, 'many', 2 ** 60]) {
      expect((await asRoot('PUT', path, { repository_size_limit: value })).status).toBe(400)
    }
    await asRoot('PUT', path, { repository_size_limit: 0 })
    expect((await commit(project, 'a', noise(600 * kibibyte))).status).toBe(201)
    expect((await statisticsOf(project)).storage_size_limit).toBeNull()
  })

  test('can be set when a project is created', async () => {
    const created = await asRoot('POST', '/projects', { name: 'limited', repository_size_limit: 1 })
    expect([created.status, created.body.repository_size_limit]).toEqual([201, 1])
    const refused = await asRoot('POST', `/projects/${created.body.id}/repository/files/a`, {
      branch: 'main',
      content: 'a',
      commit_message: 'Add',
    })
    expect(refused.status).toBe(400)
    const byUser = await harness.ask('stranger', 'POST', '/projects', { name: 'x', repository_size_limit: 1 })
    expect(byUser.status).toBe(403)
  })

  test('is the only limit for projects of administrators', async () => {
    const created = await asRoot('POST', '/projects', { name: 'of-root' })
    const stored = await asRoot('POST', `/projects/${created.body.id}/repository/files/a`, {
      branch: 'main',
      content: noise(600 * kibibyte),
      commit_message: 'Add',
    })
    expect(stored.status).toBe(201)
  })
})

test('all projects of a user share a limit', async () => {
  const other = await startGitHarness({
    env: { PROJECT_STORAGE_BYTES_MAX: '0', USER_STORAGE_BYTES_MAX: String(200 * kibibyte) },
  })
  try {
    const add = async (project: Project, size: number) =>
      other.ask(
        'owner',
        'POST',
        `/projects/${project.id}/repository/files/${randomBytes(4).toString('hex')}`,
        {
          branch: 'main',
          content: noise(size),
          commit_message: 'Add',
        },
      )
    const [one, two] = [await other.project(), await other.project()]
    expect((await add(one, 150 * kibibyte)).status).toBe(201)
    const refused = await add(two, 150 * kibibyte)
    expect(refused.body.message).toMatch(
      /^All projects of the owner of this project may take 200 KiB together and take 1\d\d(\.\d)? KiB; there is no room for 1\d\d(\.\d)? KiB more$/,
    )
    expect((await add(two, 10 * kibibyte)).status).toBe(201)
  } finally {
    await other.close()
  }
})

test('a repository that was never counted counts with all its contents', async () => {
  const project = await harness.project()
  const work = await createGitRepository()
  await work.commit({ files: { a: noise(380 * kibibyte) } })
  await work.git('push', '--quiet', harness.pathOf(project), 'HEAD:main')
  const refused = await commit(project, 'b', noise(150 * kibibyte))
  expect(refused.body.message).toMatch(sentence('2\\d\\d(\\.\\d)? KiB|[34]\\d\\d(\\.\\d)? KiB'))
})

test('a count that is too high, as after a kill, causes no refusal', async () => {
  const project = await harness.project()
  const where = { projectId: project.id }
  await harness.database.prisma.storageUse.create({ data: { ...where, repositoryBytes: 10n ** 12n } })
  expect((await commit(project, 'b', 'two\n')).status).toBe(201)
  const { repositoryBytes } = await harness.database.prisma.storageUse.findUniqueOrThrow({ where })
  expect(Number(repositoryBytes)).toBeLessThan(projectMax)
})

test('parallel pushes cannot exceed the limit of a project', async () => {
  const project = await harness.project()
  const works = await Promise.all(Array.from({ length: 4 }, () => workOn(project)))
  const pushed = await Promise.all(
    works.map(async (work, index) => {
      await work.commit({ files: { [`file-${index}`]: noise(150 * kibibyte) } })
      return work.git('push', '--quiet', 'origin', `HEAD:branch-${index}`).then(
        () => true,
        () => false,
      )
    }),
  )
  expect(pushed).toContain(true)
  expect(pushed).toContain(false)
  expect((await statisticsOf(project)).repository_size).toBeLessThan(projectMax + 32 * kibibyte)
})
