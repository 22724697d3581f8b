import { createHash, randomBytes } from 'node:crypto'
import { readdir, stat, utimes } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { type DatabaseOrTransaction, inTransaction, type Project } from '@switchyard/db'
import { createToken, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

const largestBytes = 1024 * 1024
let harness: GitHarness
let project: Project

beforeAll(async () => {
  harness = await startGitHarness({ env: { PACKAGE_FILE_BYTES_MAX: String(largestBytes) } })
  project = await harness.project()
})
afterAll(() => harness?.close())

type Content = NonNullable<RequestInit['body']>
type Who = Parameters<GitHarness['ask']>[0]

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function send(
  who: Who,
  method: string,
  path: string,
  {
    body,
    headers = {},
    of = project,
  }: { body?: Content; headers?: Record<string, string>; of?: Project } = {},
) {
  const response = await fetch(`${harness.baseUrl}/api/v4/projects/${of.id}/packages${path}`, {
    method,
    headers: { ...(who !== 'anonymous' && { 'PRIVATE-TOKEN': harness.tokens[who] }), ...headers },
    ...(body !== undefined && { body, duplex: 'half' }),
  } as RequestInit)
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('Content-Type') === 'application/json'
  return { response, status: response.status, bytes, body: isJson ? JSON.parse(bytes.toString()) : null }
}

const put = (path: string, body: Content, options: Omit<Parameters<typeof send>[3], 'body'> = {}) =>
  send('developer', 'PUT', path, { ...options, body })

function startSending(path: string, of: Project, headers: Record<string, string> = {}) {
  const url = `${harness.baseUrl}/api/v4/projects/${of.id}/packages${path}`
  const own = { 'PRIVATE-TOKEN': harness.tokens.developer }
  return httpRequest(url, { method: 'PUT', headers: { ...own, ...headers } }).on('error', () => {})
}

const filesOf = async (of: Project) =>
  (await readdir(join(harness.pathOf(of), 'lfs'), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

describe('a file of a package', () => {
  test('is published and downloaded, whole and in parts', async () => {
    const bytes = randomBytes(10_000)
    const path = '/generic/app/1.2.0-rc.1+5/linux/app_x64.tar.gz'
    expect((await put(path, bytes)).body).toEqual({ message: '201 Created' })
    const whole = await send('reporter', 'GET', path)
    expect(whole.bytes.equals(bytes)).toBe(true)
    expect(Object.fromEntries(whole.response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10000',
      'content-disposition': 'attachment; filename=app_x64.tar.gz',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-checksum-sha256': hashOf(bytes),
      'accept-ranges': 'bytes',
      etag: `"${hashOf(bytes)}"`,
    })
    const head = await send('reporter', 'HEAD', path)
    const length = head.response.headers.get('content-length')
    expect([head.status, head.bytes.length, length]).toEqual([200, 0, '10000'])
    const part = await send('reporter', 'GET', path, { headers: { Range: 'bytes=-100' } })
    expect([part.status, part.response.headers.get('content-range')]).toEqual([206, 'bytes 9900-9999/10000'])
    expect(part.bytes.equals(bytes.subarray(9900))).toBe(true)
    expect((await send('reporter', 'GET', path, { headers: { Range: 'bytes=10000-' } })).status).toBe(416)
    const known = { 'If-None-Match': `"${hashOf(bytes)}"` }
    expect((await send('reporter', 'GET', path, { headers: known })).status).toBe(304)
  })

  test('is sent in parts only in the version that the client has', async () => {
    const bytes = randomBytes(1000)
    const path = '/generic/parts/1/f'
    await put(path, bytes)
    const etag = `"${hashOf(bytes)}"`
    const ask = async (headers: Record<string, string>) => {
      const answer = await send('reporter', 'GET', path, { headers })
      return [answer.status, answer.bytes.length]
    }
    expect(await ask({ Range: 'bytes=10-19', 'If-Range': etag })).toEqual([206, 10])
    expect(await ask({ Range: 'bytes=10-19', 'If-Range': `"${'0'.repeat(64)}"` })).toEqual([200, 1000])
    expect(await ask({ Range: 'bytes=10-19', 'If-Range': `W/${etag}` })).toEqual([200, 1000])
    expect(await ask({ Range: 'bytes=990-5000' })).toEqual([206, 10])
    for (const Range of ['bytes=0-1,5-6', 'items=0-1', 'bytes'])
      expect(await ask({ Range })).toEqual([200, 1000])
    expect(await ask({ Range: 'bytes=19-10' })).toEqual([416, 0])
    await put(path, randomBytes(1000))
    expect(await ask({ Range: 'bytes=10-19', 'If-Range': etag })).toEqual([200, 1000])
    expect(await ask({ 'If-None-Match': etag })).toEqual([200, 1000])
  })

  test.each([
    'text/html',
    'image/svg+xml',
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/html; charset=utf-7',
    `text/${'x'.repeat(100)}`,
    'no type at all',
  ])('said to be %s is stored as it is, and sent as bytes', async (type) => {
    const text = '{"a":<script>alert(1)</script>'
    const path = '/generic/types/1/page.html'
    expect((await put(path, text, { headers: { 'Content-Type': type } })).status).toBe(201)
    const answer = await send('reporter', 'GET', path)
    expect([answer.bytes.toString(), answer.response.headers.get('content-type')]).toEqual([
      text,
      'application/octet-stream',
    ])
  })

  test('is answered with its address on request', async () => {
    const bytes = randomBytes(10)
    const { body } = await put('/generic/app/2.0/a%2Fb.zip?select=package_file', bytes)
    expect(body).toEqual({
      id: expect.any(Number),
      package_id: expect.any(Number),
      created_at: expect.any(String),
      updated_at: body.created_at,
      file_name: 'a/b.zip',
      size: 10,
      file_md5: null,
      file_sha1: null,
      file_sha256: hashOf(bytes),
      file_store: 1,
      status: 'default',
      pipelines: [],
      file: { url: `${harness.baseUrl}/api/v4/projects/${project.id}/packages/generic/app/2.0/a/b.zip` },
    })
    const answer = await fetch(body.file.url, { headers: { 'PRIVATE-TOKEN': harness.tokens.reporter } })
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
  })

  test('may be empty, and may have an unknown length', async () => {
    expect((await put('/generic/app/1/empty', new Uint8Array())).status).toBe(201)
    expect((await send('reporter', 'GET', '/generic/app/1/empty')).bytes.length).toBe(0)
    const bytes = randomBytes(300_000)
    expect((await put('/generic/app/1/chunked', new Blob([bytes]).stream())).status).toBe(201)
    expect((await send('reporter', 'GET', '/generic/app/1/chunked')).bytes.equals(bytes)).toBe(true)
  })

  test('is the newest of its name; the same bytes again are the same file', async () => {
    const [first, second] = [randomBytes(10), randomBytes(10)]
    const publish = async (bytes: Uint8Array<ArrayBuffer>) =>
      (await put('/generic/again/1/f?select=package_file', bytes)).body
    const made = await publish(first)
    expect((await publish(first)).id).toBe(made.id)
    expect((await publish(second)).id).not.toBe(made.id)
    expect((await send('reporter', 'GET', '/generic/again/1/f')).bytes.equals(second)).toBe(true)
    const { body } = await send('reporter', 'GET', `/${made.package_id}/package_files?sort=desc`)
    expect(body.map(({ file_sha256 }: { file_sha256: string }) => file_sha256)).toEqual(
      [second, first].map(hashOf),
    )
  })

  test('may have the bytes of an LFS object or of another file', async () => {
    const own = await harness.project()
    const bytes = randomBytes(100)
    for (const path of ['/generic/a/1/f', '/generic/b/1/g'])
      expect((await put(path, bytes, { of: own })).status).toBe(201)
    expect(await filesOf(own)).toEqual([hashOf(bytes)])
    const { body } = await harness.ask('reporter', 'GET', `/projects/${own.id}?statistics=true`)
    expect(body.statistics.storage_size).toBe(body.statistics.repository_size + 100)
  })

  test('counts as new when it is published again, so that housekeeping keeps it', async () => {
    const own = await harness.project()
    const bytes = randomBytes(100)
    const oid = hashOf(bytes)
    const file = join(harness.pathOf(own), 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid)
    await put('/generic/a/1/f', bytes, { of: own })
    await utimes(file, 0, 0)
    await put('/generic/a/2/f', bytes, { of: own })
    expect((await stat(file)).mtimeMs).toBeGreaterThan(Date.now() - 60_000)
  })

  test('that is too large leaves no file, with and without a known length', async () => {
    const own = await harness.project()
    const bytes = randomBytes(largestBytes + 1)
    for (const body of [bytes, new Blob([bytes]).stream()]) {
      const answer = await put('/generic/app/1/f', body, { of: own })
      expect([answer.status, answer.body.message]).toEqual([
        413,
        `A file can have ${largestBytes} bytes at most`,
      ])
    }
    expect(await filesOf(own)).toEqual([])
    expect((await send('reporter', 'GET', '', { of: own })).body).toEqual([])
  })

  test('whose sender disconnects leaves no file', async () => {
    const own = await harness.project()
    const sending = startSending('/generic/app/1/f', own, { 'Content-Length': '100000' })
    sending.write(randomBytes(1000))
    await waitFor(async () => (await filesOf(own)).length > 0)
    sending.destroy()
    await waitFor(async () => (await filesOf(own)).length === 0)
    expect((await send('reporter', 'GET', '/generic/app/1/f', { of: own })).status).toBe(404)
  })

  test('whose sender disconnects after the last byte, before its row is stored, is not kept', async () => {
    const own = await harness.project()
    await put('/generic/app/1/f', 'x', { of: own })
    const lock = ({ prisma }: DatabaseOrTransaction) =>
      prisma.$queryRaw`SELECT FROM packages WHERE project_id = ${own.id} FOR UPDATE`
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await inTransaction(harness.database, async (transaction) => {
      await lock(transaction)
      const sending = startSending('/generic/app/1/g', own).end('y')
      await waitFor(async () => (await harness.database.pool.query(waiting)).rowCount === 1)
      sending.destroy()
      // When the service answers on another connection, it has noticed the end of that one.
      expect((await send('reporter', 'GET', '/generic/app/1/f', { of: own })).status).toBe(200)
    })
    // The service waits for the lock first, so this lock is granted when it has ended.
    await lock(harness.database)
    expect((await send('reporter', 'GET', '/generic/app/1/g', { of: own })).status).toBe(404)
  })

  test('that is compressed is refused', async () => {
    const headers = { 'Content-Encoding': 'gzip' }
    expect((await put('/generic/app/1/f', randomBytes(10), { headers })).status).toBe(415)
  })

  test.each([
    ['/generic/a%20b/1/f', 'package_name is invalid'],
    ['/generic/%2e%2e%2fa/1/f', 'package_name is invalid'],
    ['/generic/a/1..2/f', 'package_version is invalid'],
    ['/generic/a/..%2f1/f', 'package_version is invalid'],
    ['/generic/a/1/..%2f..%2fHEAD', 'file_name is invalid'],
    ['/generic/a/1/b%2f..%2fc', 'file_name is invalid'],
    ['/generic/a/1/%2fetc%2fpasswd', 'file_name is invalid'],
    ['/generic/a/1/b%5cc', 'file_name is invalid'],
    ['/generic/a/1/b%00', 'file_name is invalid'],
    [`/generic/a/1/${'x'.repeat(256)}`, 'file_name is invalid'],
    ['/generic/a/1/f?status=gone', 'status does not have a valid value'],
    ['/generic/a/1/f?select=all', 'select does not have a valid value'],
  ])('is not published as %s', async (path, error) => {
    const answer = await put(path, 'x')
    expect([answer.status, answer.body.error]).toEqual([400, error])
  })
})

describe('packages', () => {
  test('are listed, filtered and sorted in pages', async () => {
    const own = await harness.project()
    for (const [name, version] of [
      ['zeta', '1'],
      ['App_one', '2'],
      ['app-two', '1'],
    ])
      await put(`/generic/${name}/${version}/f`, `${name}`, { of: own })
    await put('/generic/secret/1/f?status=hidden', 'x', { of: own })
    const list = async (query: string) => {
      const { body } = await send('reporter', 'GET', query, { of: own })
      return body.map(({ name }: { name: string }) => name)
    }
    expect(await list('')).toEqual(['zeta', 'App_one', 'app-two'])
    expect(await list('?sort=desc')).toEqual(['app-two', 'App_one', 'zeta'])
    expect(await list('?order_by=version&sort=asc')).toEqual(['zeta', 'app-two', 'App_one'])
    expect(await list('?package_name=APP')).toEqual(['App_one', 'app-two'])
    expect(await list('?package_name=p_')).toEqual(['App_one'])
    expect(await list('?package_version=2')).toEqual(['App_one'])
    expect(await list('?package_type=generic&include_versionless=true')).toHaveLength(3)
    expect(await list('?package_type=npm')).toEqual([])
    expect(await list('?status=hidden')).toEqual(['secret'])
    expect((await send('reporter', 'GET', '/generic/secret/1/f', { of: own })).bytes.toString()).toBe('x')
    const page = await send('reporter', 'GET', '?per_page=2&page=2', { of: own })
    expect(page.body).toHaveLength(1)
    expect(page.response.headers.get('x-total')).toBe('3')
    for (const query of ['?order_by=size', '?sort=up', '?package_type=zip', '?status=any', '?page=0'])
      expect((await send('reporter', 'GET', query, { of: own })).status).toBe(400)
  })

  test('have other versions, files and links', async () => {
    const own = await harness.project()
    for (const version of ['1', '2']) await put(`/generic/app/${version}/f`, 'x', { of: own })
    const [first, second] = (await send('reporter', 'GET', '', { of: own })).body
    const { body } = await send('reporter', 'GET', `/${first.id}`, { of: own })
    expect(body).toEqual({
      ...first,
      versions: [{ id: second.id, version: '2', created_at: second.created_at, tags: [], pipelines: [] }],
    })
    expect(first).toEqual({
      id: expect.any(Number),
      name: 'app',
      version: '1',
      package_type: 'generic',
      status: 'default',
      created_at: expect.any(String),
      last_downloaded_at: null,
      creator_id: expect.any(Number),
      tags: [],
      pipelines: [],
      _links: {
        web_path: `/${own.pathWithNamespace}/-/packages/${first.id}`,
        delete_api_path: `${harness.baseUrl}/api/v4/projects/${own.id}/packages/${first.id}`,
      },
    })
    for (const path of ['/2147483647', '/2147483647/package_files', '/generic/app/3/f', '/generic/app/1/g'])
      expect((await send('reporter', 'GET', path, { of: own })).status).toBe(404)
    expect((await send('reporter', 'GET', '/x', { of: own })).status).toBe(400)
    expect((await send('reporter', 'GET', `/${first.id}`)).status).toBe(404)
  })

  test('are deleted with their files, and with their last file', async () => {
    const own = await harness.project()
    const publish = async (path: string) =>
      (await put(`/generic/${path}?select=package_file`, path, { of: own })).body
    const whole = await publish('whole/1/f')
    const two = [await publish('two/1/f'), await publish('two/1/g')]
    await publish('named/1/f')
    const ask = async (method: string, path: string, who: Who = 'owner') =>
      (await send(who, method, path, { of: own })).status
    expect(await ask('DELETE', `/${whole.package_id}`, 'developer')).toBe(403)
    expect(await ask('DELETE', `/${whole.package_id}`)).toBe(204)
    expect(await ask('DELETE', `/${whole.package_id}`)).toBe(404)
    expect(await ask('GET', '/generic/whole/1/f')).toBe(404)
    expect(await ask('DELETE', `/${two[0].package_id}/package_files/${two[0].id}`)).toBe(204)
    expect(await ask('DELETE', `/${two[0].package_id}/package_files/${two[0].id}`)).toBe(404)
    expect(await ask('GET', '/generic/two/1/g')).toBe(200)
    expect(await ask('DELETE', `/${two[1].package_id}/package_files/${two[1].id}`)).toBe(204)
    expect(await ask('GET', `/${two[1].package_id}`)).toBe(404)
    expect(await ask('DELETE', '/generic/named/1/f', 'developer')).toBe(403)
    expect(await ask('DELETE', '/generic/named/1/f')).toBe(204)
    expect(await ask('DELETE', '/generic/named/1/f')).toBe(404)
    expect((await send('reporter', 'GET', '', { of: own })).body).toEqual([])
  })

  test('are deleted with their project', async () => {
    const own = await harness.project()
    await put('/generic/app/1/f', 'x', { of: own })
    expect((await harness.ask('owner', 'DELETE', `/projects/${own.id}`)).status).toBe(202)
    expect(await harness.database.prisma.packageFile.count({ where: { projectId: own.id } })).toBe(0)
    await expect(readdir(harness.pathOf(own))).rejects.toThrow('ENOENT')
  })

  test('beyond a quota are refused, and leave no files', async () => {
    const own = await harness.project()
    await harness.database.prisma.project.update({
      where: { id: own.id },
      data: { repositorySizeLimit: 500_000 },
    })
    expect((await put('/generic/app/1/f', randomBytes(300_000), { of: own })).status).toBe(201)
    for (const body of [randomBytes(300_000), new Blob([randomBytes(300_000)]).stream()]) {
      const answer = await put('/generic/app/1/g', body, { of: own })
      expect([answer.status, answer.body.message]).toEqual([413, expect.stringContaining('no room for')])
    }
    expect(await filesOf(own)).toHaveLength(1)
  })
})

test.each([
  ['anonymous', 404, 401],
  ['stranger', 404, 404],
  ['guest', 403, 403],
  ['reporter', 200, 403],
  ['readsRepository', 200, 403],
  ['narrow', 403, 403],
  ['developer', 200, 201],
] as const)('%s: reads %i, publishes %i', async (who, reads, publishes) => {
  const own = await harness.project()
  await put('/generic/app/1/f', 'x', { of: own })
  for (const path of ['', '/generic/app/1/f'])
    expect((await send(who, 'GET', path, { of: own })).status).toBe(reads)
  expect((await send(who, 'PUT', '/generic/app/1/g', { body: 'x', of: own })).status).toBe(publishes)
})

test('packages of a public project are open to everybody, and an archived project accepts none', async () => {
  const open = await harness.project({ visibility: 'public' })
  await put('/generic/app/1/f', 'x', { of: open })
  expect((await send('anonymous', 'GET', '/generic/app/1/f', { of: open })).status).toBe(200)
  await harness.database.prisma.project.update({ where: { id: open.id }, data: { archived: true } })
  expect((await put('/generic/app/1/g', 'x', { of: open })).status).toBe(403)
  const readOnly = await createToken(
    harness.database,
    await harness.database.prisma.user.findFirstOrThrow({ where: { username: 'dora' } }),
    { scopes: ['read_api'] },
  )
  const headers = { 'PRIVATE-TOKEN': readOnly.secret }
  expect((await send('anonymous', 'PUT', '/generic/app/1/g', { body: 'x', headers })).status).toBe(403)
})
