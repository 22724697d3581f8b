import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

const largestBytes = 1024 * 1024
let harness: GitHarness
let project: Project

beforeAll(async () => {
  harness = await startGitHarness({
    env: { UPLOAD_BYTES_MAX: String(largestBytes), GIT_IDLE_TIMEOUT_MS: '1000' },
  })
  project = await harness.project()
})
afterAll(() => harness?.close())

type Who = Parameters<GitHarness['ask']>[0]
type Content = NonNullable<RequestInit['body']>

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function send(
  who: Who,
  method: string,
  path: string,
  body?: Content,
  headers: Record<string, string> = {},
) {
  const url = path.startsWith('/projects') ? `${harness.baseUrl}/api/v4${path}` : harness.baseUrl + path
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(who !== 'anonymous' && { 'PRIVATE-TOKEN': harness.tokens[who] }), ...headers },
    ...(body !== undefined && { body, duplex: 'half' }),
  } as RequestInit)
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('Content-Type') === 'application/json'
  return { response, status: response.status, bytes, body: isJson ? JSON.parse(bytes.toString()) : null }
}

function formOf(bytes: Uint8Array<ArrayBuffer>, name = 'a.zip', field = 'file'): FormData {
  const form = new FormData()
  form.set('other', 'counts for nothing')
  form.set(field, new Blob([bytes]), name)
  return form
}

const upload = (form: Content, { who = 'developer' as Who, of = project, headers = {} } = {}) =>
  send(who, 'POST', `/projects/${of.id}/uploads`, form, headers)

const filesOf = async (of: Project) =>
  (await readdir(join(harness.pathOf(of), 'lfs'), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

describe('an upload', () => {
  test('is answered in the shape of GitLab, and read at each of its addresses', async () => {
    const bytes = randomBytes(10_000)
    const { status, body } = await upload(formOf(bytes, 'Übersicht (1).zip'))
    expect(status).toBe(201)
    const url = expect.stringMatching(/^\/uploads\/[0-9a-f]{32}\/Übersicht__1_\.zip$/)
    expect(body).toEqual({
      id: expect.any(Number),
      alt: 'Übersicht__1_.zip',
      url,
      full_path: `/-/project/${project.id}${body.url}`,
      markdown: `[Übersicht__1_.zip](${body.url})`,
    })
    for (const path of [
      body.full_path,
      `/${project.pathWithNamespace}${body.url}`,
      `/projects/${project.id}${body.url}`,
    ]) {
      const answer = await send('guest', 'GET', path)
      expect(answer.bytes.equals(bytes)).toBe(true)
      expect(Object.fromEntries(answer.response.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': expect.stringMatching(
          /^attachment; .*filename\*=UTF-8''%C3%9Cbersicht__1_\.zip$/,
        ),
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'x-checksum-sha256': hashOf(bytes),
        etag: `"${hashOf(bytes)}"`,
      })
      const part = await send('guest', 'GET', path, undefined, { Range: 'bytes=1-3' })
      expect([part.status, part.bytes.equals(bytes.subarray(1, 4))]).toEqual([206, true])
      const head = await send('guest', 'HEAD', path)
      expect([head.status, head.response.headers.get('content-length')]).toEqual([200, '10000'])
    }
  })

  test.each([
    ['a.png', 'image/png', 'inline'],
    ['a.JPG', 'image/jpeg', 'inline'],
    ['a.svg', 'application/octet-stream', 'attachment'],
    ['a.html', 'application/octet-stream', 'attachment'],
  ])('%s is sent as %s, %s', async (name, type, disposition) => {
    const { body } = await upload(formOf(new TextEncoder().encode('<script>alert(1)</script>'), name))
    expect(body.markdown.startsWith('!')).toBe(disposition === 'inline')
    const { headers } = (await send('guest', 'GET', body.full_path)).response
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      type,
      `${disposition}; filename=${name}`,
    ])
    expect(headers.get('content-security-policy')).toContain('sandbox')
  })

  test.each([
    ['../../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['a\r\nX-Evil: 1.zip', 'a__X-Evil__1.zip'],
  ])('named %j is %s', async (name, fileName) => {
    const { body } = await upload(formOf(new Uint8Array(), name))
    expect(body.alt).toBe(fileName)
  })

  test('that is too large leaves no file, with and without a known length', async () => {
    const own = await harness.project()
    const form = formOf(randomBytes(largestBytes + 1))
    const { headers, body } = new Response(form)
    const type = { 'Content-Type': headers.get('Content-Type') ?? '' }
    for (const answer of [
      await upload(form, { of: own }),
      await upload(body as ReadableStream, { of: own, headers: type }),
      await upload(formOf(randomBytes(largestBytes * 4)), { of: own }),
    ])
      expect([answer.status, answer.body.message]).toEqual([
        413,
        `A file can have ${largestBytes} bytes at most`,
      ])
    await waitFor(async () => (await filesOf(own)).length === 0)
    expect((await send('owner', 'GET', `/projects/${own.id}/uploads`)).body).toEqual([])
  })

  test('beyond the quota of its project is refused', async () => {
    const own = await harness.project()
    const data = { repositorySizeLimit: 500_000 }
    await harness.database.prisma.project.update({ where: { id: own.id }, data })
    expect((await upload(formOf(randomBytes(300_000)), { of: own })).status).toBe(201)
    const answer = await upload(formOf(randomBytes(300_000)), { of: own })
    expect([answer.status, answer.body.message]).toEqual([413, expect.stringContaining('no room for')])
    expect(await filesOf(own)).toHaveLength(1)
  })

  test('that breaks off or stalls leaves no file', async () => {
    const own = await harness.project()
    const begin = () => {
      const sending = httpRequest(`${harness.baseUrl}/api/v4/projects/${own.id}/uploads`, {
        method: 'POST',
        headers: {
          'PRIVATE-TOKEN': harness.tokens.developer,
          'Content-Type': 'multipart/form-data; boundary=x',
          'Content-Length': '500000',
        },
      })
      sending.on('error', () => {})
      sending.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n')
      sending.write(randomBytes(100_000))
      return sending
    }
    const broken = begin()
    await waitFor(async () => (await filesOf(own)).length > 0)
    broken.destroy()
    await waitFor(async () => (await filesOf(own)).length === 0)

    const stalled = begin()
    const status = await new Promise((resolve) => {
      stalled.on('response', ({ statusCode }) => resolve(statusCode))
    })
    expect(status).toBe(408)
    stalled.destroy()
    await waitFor(async () => (await filesOf(own)).length === 0)
  })

  test.each<[string, () => Content, Record<string, string>, string]>([
    ['JSON', () => '{}', { 'Content-Type': 'application/json' }, 'file is missing'],
    ['a form without a file', () => formOf(new Uint8Array(), '', 'text'), {}, 'file is missing'],
    ['another file', () => formOf(randomBytes(10), 'a', 'attachment'), {}, 'the form is invalid'],
    ['no boundary', () => 'x', { 'Content-Type': 'multipart/form-data' }, 'the form is invalid'],
    [
      'a form without an end',
      () => '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
      { 'Content-Type': 'multipart/form-data; boundary=x' },
      'the form is invalid',
    ],
  ])('is not %s', async (_what, body, headers, error) => {
    const answer = await upload(body(), { headers })
    expect([answer.status, answer.body.error]).toEqual([400, error])
  })

  test('is refused with two files', async () => {
    const form = formOf(randomBytes(10))
    form.append('file', new Blob([randomBytes(10)]), 'b.zip')
    expect((await upload(form)).status).toBe(400)
  })
})

describe('uploads', () => {
  test('are listed, read and deleted by maintainers', async () => {
    const own = await harness.project()
    const [first, second] = [
      (await upload(formOf(randomBytes(5), 'one.zip'), { of: own })).body,
      (await upload(formOf(randomBytes(6), 'two.zip'), { of: own })).body,
    ]
    const path = `/projects/${own.id}/uploads`
    for (const [method, address] of [
      ['GET', path],
      ['GET', `${path}/${first.id}`],
      ['DELETE', `${path}/${first.id}`],
      ['DELETE', `/projects/${own.id}${first.url}`],
    ] as const)
      expect((await send('developer', method, address)).status).toBe(403)
    const { body, response } = await send('owner', 'GET', `${path}?per_page=1`)
    expect(body).toEqual([
      {
        id: second.id,
        size: 6,
        filename: 'two.zip',
        created_at: expect.any(String),
        uploaded_by: { id: expect.any(Number), name: 'Dora Developer', username: 'dora' },
      },
    ])
    expect(response.headers.get('x-total')).toBe('2')
    expect((await send('owner', 'GET', `${path}/${first.id}`)).bytes).toHaveLength(5)
    expect((await send('owner', 'DELETE', `${path}/${first.id}`)).status).toBe(204)
    expect((await send('owner', 'DELETE', `${path}/${first.id}`)).status).toBe(404)
    expect((await send('owner', 'GET', first.full_path)).status).toBe(404)
    expect((await send('owner', 'DELETE', `/projects/${own.id}${second.url}`)).status).toBe(204)
    expect((await send('owner', 'GET', path)).body).toEqual([])
    expect((await send('owner', 'GET', `${path}/x`)).status).toBe(400)
  })

  test('are found only by secret and name together, in their own project', async () => {
    const other = await harness.project()
    const { body } = await upload(formOf(randomBytes(5)))
    const secret = body.url.split('/')[2]
    for (const path of [
      `/-/project/${project.id}/uploads/${secret}/b.zip`,
      `/-/project/${project.id}/uploads/${'0'.repeat(32)}/a.zip`,
      `/-/project/${other.id}${body.url}`,
      `/-/project/${project.id}/uploads/${secret}/..%2f..%2fHEAD`,
    ])
      expect((await send('owner', 'GET', path)).status).toBe(404)
  })

  test('of a private project are visible to its members only; browsers are redirected to the API', async () => {
    const { body } = await upload(formOf(randomBytes(5)))
    const page = `/${project.pathWithNamespace}${body.url}`
    for (const path of [body.full_path, page]) {
      for (const who of ['anonymous', 'stranger'] as const)
        expect((await send(who, 'GET', path)).status).toBe(404)
      const browser = await send('anonymous', 'GET', path, undefined, { Accept: 'text/html' })
      expect(browser.status).toBe(302)
      const location = browser.response.headers.get('location') ?? ''
      expect((await send('anonymous', 'GET', location)).status).toBe(404)
      const token = { 'PRIVATE-TOKEN': harness.tokens.guest }
      expect((await fetch(harness.baseUrl + location, { headers: token })).status).toBe(200)
    }
  })

  test('are deleted with their project', async () => {
    const own = await harness.project()
    await upload(formOf(randomBytes(5)), { of: own })
    expect((await harness.ask('owner', 'DELETE', `/projects/${own.id}`)).status).toBe(202)
    expect(await harness.database.prisma.upload.count({ where: { projectId: own.id } })).toBe(0)
  })
})

test.each([
  ['private', 'anonymous', 401],
  ['private', 'stranger', 404],
  ['private', 'guest', 403],
  ['private', 'reporter', 201],
  ['private', 'narrow', 403],
  ['private', 'readsRepository', 403],
  ['public', 'anonymous', 401],
  ['public', 'stranger', 403],
  ['public', 'guest', 201],
] as const)('in a %s project, %s uploads: %i', async (visibility, who, status) => {
  const own = await harness.project({ visibility })
  expect((await upload(formOf(randomBytes(5)), { who, of: own })).status).toBe(status)
})
