import { randomBytes } from 'node:crypto'
import { readdir, stat, utimes } from 'node:fs/promises'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'
import { startGitProcess } from '../git-process.js'

let harness: GitHarness
let project: Project
const sending: ClientRequest[] = []

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
})
afterAll(async () => {
  for (const each of sending) each.destroy()
  await harness?.close()
})

const announcedBytes = 200 * 1024 * 1024

/** Begins to send a file without finishing it. */
function begin(
  baseUrl: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  head = '',
) {
  const request = httpRequest(`${baseUrl}${path}`, {
    method,
    headers: {
      Authorization: `Basic ${btoa(`any:${harness.tokens.developer}`)}`,
      'PRIVATE-TOKEN': harness.tokens.developer,
      'Content-Length': String(announcedBytes),
      ...headers,
    },
  })
  request.on('error', () => {})
  request.write(head)
  request.write(randomBytes(200_000))
  sending.push(request)
  return request
}

/** Lists all files beside the repository, with their sizes. */
async function storedFiles(): Promise<{ path: string; size: number }[]> {
  const folder = join(harness.pathOf(project), 'lfs')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const paths = entries.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Promise.all(paths.map(async (path) => ({ path, size: (await stat(path)).size })))
}

const arrived = async (count: number) => {
  const files = await storedFiles()
  return files.length === count && files.every(({ size }) => size > 0)
}

const ofApi = (path: string) => `/api/v4/projects/${project.id}${path}`

test('a service that is killed while files arrive leaves nothing of them, and another one continues with its own', async () => {
  const service = await startGitProcess(harness)
  begin(service.baseUrl, 'PUT', ofApi('/packages/generic/app/1.0/app.zip'))
  begin(
    service.baseUrl,
    'PUT',
    `/${project.pathWithNamespace}.git/gitlab-lfs/objects/${'ab'.repeat(32)}/${announcedBytes}`,
  )
  begin(
    service.baseUrl,
    'POST',
    ofApi('/uploads'),
    { 'Content-Type': 'multipart/form-data; boundary=x' },
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n',
  )
  await waitFor(() => arrived(3), { what: 'the three files to arrive' })
  await service.kill()
  const interrupted = await storedFiles()
  begin(harness.baseUrl, 'PUT', ofApi('/packages/generic/app/1.0/other.zip'))
  await waitFor(() => arrived(4), { what: 'a file to arrive at another replica' })

  // Makes the files as old as after a long downtime.
  for (const { path } of interrupted) await utimes(path, 0, 0)
  const again = await startGitProcess(harness)
  await waitFor(() => arrived(1), { what: 'the interrupted files to go' })
  const [{ path: kept = '' } = {}] = await storedFiles()
  expect(interrupted.map(({ path }) => path)).not.toContain(kept)
  const ask = async (method: string, path: string, body?: string) => {
    const headers = { 'PRIVATE-TOKEN': harness.tokens.owner }
    const url = `${again.baseUrl}/api/v4/projects/${project.id}${path}`
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
    return { status: response.status, text: await response.text() }
  }
  expect((await ask('GET', '/packages/generic/app/1.0/app.zip')).status).toBe(404)
  expect((await ask('GET', '/packages')).text).toBe('[]')
  expect((await ask('GET', '/uploads')).text).toBe('[]')
  expect(await harness.database.prisma.lfsObject.count({ where: { projectId: project.id } })).toBe(0)
  // The client retries.
  expect((await ask('PUT', '/packages/generic/app/1.0/app.zip', 'whole')).status).toBe(201)
  expect((await ask('GET', '/packages/generic/app/1.0/app.zip')).text).toBe('whole')
  expect((await storedFiles()).filter(({ path }) => path !== kept).map(({ size }) => size)).toEqual([5])
  await again.kill()
})

test('other users are served while one user sends ten large files', async () => {
  const before = (await storedFiles()).length
  for (let number = 0; number < 10; number += 1)
    begin(harness.baseUrl, 'PUT', ofApi(`/packages/generic/large/1/${number}`))
  await waitFor(async () => (await storedFiles()).length > before, { what: 'a file to arrive' })
  const url = `${harness.baseUrl}/api/v4/projects/${project.id}`
  const headers = { 'PRIVATE-TOKEN': harness.tokens.owner }
  expect((await fetch(url, { headers })).status).toBe(200)
  const small = `${url}/packages/generic/small/1/f`
  expect((await fetch(small, { method: 'PUT', headers, body: 'small' })).status).toBe(201)
  expect(await (await fetch(small, { headers })).text()).toBe('small')
  const form = new FormData()
  form.set('file', new Blob(['x']), 'x.txt')
  expect((await fetch(`${url}/uploads`, { method: 'POST', headers, body: form })).status).toBe(201)
})
