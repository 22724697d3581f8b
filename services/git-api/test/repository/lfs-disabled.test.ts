import { createHash, randomBytes } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'
import { type LfsRequests, lfsRequests, type Who } from './lfs-requests.js'

let harness: GitHarness
let project: Project
let requests: LfsRequests

const bytes = randomBytes(1000)
const object = { oid: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
const address = `/gitlab-lfs/objects/${object.oid}`

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
  requests = lfsRequests(harness, project)
})
afterAll(() => harness?.close())

const settle = async (who: Who, fields: object) =>
  harness.ask(who as 'owner', 'PUT', `/projects/${project.id}`, fields)

const batch = (who: Who, operation: string) =>
  requests.ask(who, 'POST', '/info/lfs/objects/batch', { operation, objects: [object] })

/** Returns the status of every operation of the LFS API. */
async function statuses(who: Who): Promise<number[]> {
  const answers = [
    await batch(who, 'download'),
    await batch(who, 'upload'),
    await requests.send(who, 'PUT', `${address}/${object.size}`, bytes),
    await requests.send(who, 'GET', address),
    await requests.send(who, 'POST', '/info/lfs/objects/verify', object),
    await requests.send(who, 'GET', '/info/lfs/locks'),
    await requests.send(who, 'POST', '/info/lfs/locks', { path: 'a.bin' }),
    await requests.send(who, 'POST', '/info/lfs/locks/verify', {}),
    await requests.send(who, 'POST', '/info/lfs/locks/1/unlock', {}),
  ]
  return answers.map(({ status }) => status)
}

test('a project with lfs_enabled=false refuses batches, transfers and locks, and accepts them again afterwards', async () => {
  expect((await requests.send('developer', 'PUT', `${address}/${object.size}`, bytes)).status).toBe(200)
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${object.oid}\nsize ${object.size}\n`
  await harness.ask('developer', 'POST', `/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Pointer',
    actions: [{ action: 'create', file_path: 'a.bin', content: pointer }],
  })
  const raw = () =>
    requests.send(
      'developer',
      'GET',
      `${harness.baseUrl}/api/v4/projects/${project.id}/repository/files/a.bin/raw?lfs=true`,
      undefined,
      { 'PRIVATE-TOKEN': harness.tokens.developer },
    )
  expect((await raw()).bytes.equals(bytes)).toBe(true)

  expect(await settle('owner', { lfs_enabled: false })).toMatchObject({
    status: 200,
    body: { lfs_enabled: false },
  })
  expect(new Set(await statuses('developer'))).toEqual(new Set([404]))
  const refused = await batch('developer', 'upload')
  expect(refused.body).toEqual({ message: 'Not found.', request_id: expect.any(String) })
  expect((await raw()).bytes.toString()).toBe(pointer)

  await settle('owner', { lfs_enabled: 'true' })
  const answers = await statuses('developer')
  expect(answers).toEqual([200, 200, 200, 200, 200, 200, 201, 200, 200])
})

test('missing rights in the project are reported before disabled LFS', async () => {
  await settle('owner', { lfs_enabled: false })
  expect((await batch('anonymous', 'download')).status).toBe(401)
  expect((await batch('guest', 'download')).status).toBe(403)
  expect((await batch('stranger', 'download')).body.message).toBe('404 Project Not Found')
})

test('only maintainers switch LFS on and off, by true or false, and a new project can set it at once', async () => {
  expect((await settle('developer', { lfs_enabled: true })).status).toBe(403)
  expect((await settle('owner', { lfs_enabled: 'perhaps' })).body.error).toBe('lfs_enabled is invalid')
  const made = await harness.ask('owner', 'POST', '/projects', { path: 'plain', lfs_enabled: false })
  expect(made).toMatchObject({ status: 201, body: { lfs_enabled: false } })
  const usual = await harness.ask('owner', 'POST', '/projects', { path: 'usual' })
  expect(usual.body.lfs_enabled).toBe(true)
})
