import { createHash, randomBytes } from 'node:crypto'
import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'
import { addressOf, type LfsRequests, lfsRequests, lfsType, type Who } from './lfs-requests.js'

const largestBytes = 1024 * 1024
let harness: GitHarness
let project: Project
let requests: LfsRequests

beforeAll(async () => {
  harness = await startGitHarness({ env: { LFS_OBJECT_BYTES_MAX: String(largestBytes) } })
  project = await harness.project()
  requests = lfsRequests(harness, project)
})
afterAll(() => harness?.close())

const send: LfsRequests['send'] = (...request) => requests.send(...request)
const ask: LfsRequests['ask'] = (...request) => requests.ask(...request)

function newObject(size = 1000) {
  const bytes = randomBytes(size)
  return { bytes, oid: createHash('sha256').update(bytes).digest('hex'), size }
}

const batch = (who: Who, operation: string, objects: unknown, fields = {}) =>
  ask(who, 'POST', '/info/lfs/objects/batch', { operation, transfers: ['basic'], objects, ...fields })

async function store(object = newObject()) {
  const url = `/gitlab-lfs/objects/${object.oid}/${object.size}`
  expect((await send('developer', 'PUT', url, object.bytes)).status).toBe(200)
  return object
}

const refusal = (message: string) => ({ message, request_id: expect.any(String) })

describe('an object', () => {
  test('is uploaded and downloaded at the addresses of a batch, whole and in parts', async () => {
    const { bytes, oid, size } = newObject()
    const asked = await batch('developer', 'upload', [{ oid, size }], { ref: { name: 'refs/heads/main' } })
    const credentials = { Authorization: `Basic ${btoa(`any:${harness.tokens.developer}`)}` }
    const action = (path: string) => ({
      href: `${addressOf(harness, project)}${path}`,
      header: credentials,
      expires_in: 3600,
    })
    expect(asked.body).toEqual({
      transfer: 'basic',
      hash_algo: 'sha256',
      objects: [
        {
          oid,
          size,
          authenticated: true,
          actions: {
            upload: action(`/gitlab-lfs/objects/${oid}/${size}`),
            verify: action('/info/lfs/objects/verify'),
          },
        },
      ],
    })
    const { upload, verify } = asked.body.objects[0].actions
    expect((await ask('developer', 'POST', verify.href, { oid, size })).status).toBe(404)
    expect((await send('developer', 'PUT', upload.href, bytes)).status).toBe(200)
    expect((await ask('developer', 'POST', verify.href, { oid, size })).status).toBe(200)
    const twice = [
      { oid, size },
      { oid, size },
    ]
    await harness.database.prisma.lfsObject.deleteMany({ where: { projectId: project.id, oid } })
    expect((await batch('developer', 'upload', twice)).body.objects).toEqual([
      { oid, size, authenticated: true },
    ])

    const { href } = (await batch('reporter', 'download', [{ oid, size }])).body.objects[0].actions.download
    const whole = await send('reporter', 'GET', href)
    expect([whole.status, whole.headers.get('Content-Type')]).toEqual([200, 'application/octet-stream'])
    expect(whole.bytes.equals(bytes)).toBe(true)
    const part = await send('reporter', 'GET', href, undefined, { Range: 'bytes=400-' })
    expect([part.status, part.headers.get('Content-Range')]).toEqual([206, 'bytes 400-999/1000'])
    expect(part.bytes.equals(bytes.subarray(400))).toBe(true)
    expect((await send('reporter', 'GET', href, undefined, { Range: 'bytes=1000-' })).status).toBe(416)
  })

  test('may be empty', async () => {
    const { oid } = await store(newObject(0))
    const answer = await send('reporter', 'GET', `/gitlab-lfs/objects/${oid}`)
    expect([answer.status, answer.bytes.length]).toEqual([200, 0])
  })

  test('without the announced SHA-256 or size leaves no file', async () => {
    const { bytes, oid, size } = newObject()
    const wrong = newObject()
    const sent: [string, Uint8Array][] = [
      [`${oid}/${size}`, wrong.bytes],
      [`${oid}/${size}`, bytes.subarray(1)],
      [`${oid}/${size - 1}`, bytes],
      [`${oid}/${size + 1}`, bytes],
    ]
    for (const [path, body] of sent) {
      const answer = await ask('developer', 'PUT', `/gitlab-lfs/objects/${path}`, body)
      expect([answer.status, answer.body]).toEqual([400, refusal('SHA256 or size mismatch')])
    }
    // A body without a length is found to be too short or too long only when it has arrived.
    const chunked = await fetch(`${addressOf(harness, project)}/gitlab-lfs/objects/${oid}/${size}`, {
      method: 'PUT',
      headers: { Authorization: `Basic ${btoa(`any:${harness.tokens.developer}`)}` },
      body: new Blob([bytes, bytes]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(chunked.status).toBe(400)
    expect((await send('reporter', 'GET', `/gitlab-lfs/objects/${oid}`)).status).toBe(404)
    const folder = join(harness.pathOf(project), 'lfs')
    expect(await readdir(join(folder, 'tmp'))).toEqual([])
    expect((await readdir(folder, { recursive: true })).filter((name) => name.endsWith(oid))).toEqual([])
  })

  test('gets 404 when its project is deleted during its upload, whether its bytes continue or stop', async () => {
    for (const goesOn of [true, false]) {
      const doomed = await harness.project()
      const { bytes, oid, size } = newObject(100_000)
      let isOver = false
      const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
        const sending = httpRequest(
          `${addressOf(harness, doomed)}/gitlab-lfs/objects/${oid}/${size}`,
          { method: 'PUT', headers: { Authorization: `Basic ${btoa(`any:${harness.tokens.owner}`)}` } },
          async (response) => {
            isOver = true
            const parts: Buffer[] = []
            for await (const part of response) parts.push(part)
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() })
          },
        )
        sending.on('error', reject)
        sending.write(bytes.subarray(0, 1000))
        let at = 1000
        const timer = setInterval(() => {
          if (isOver || at >= 90_000) return clearInterval(timer)
          if (goesOn) sending.write(bytes.subarray(at, at + 100))
          at += 100
        }, 20)
      })
      const uploads = join(harness.pathOf(doomed), 'lfs/tmp')
      await waitFor(async () => (await readdir(uploads).catch(() => [])).length > 0)
      expect((await harness.ask('owner', 'DELETE', `/projects/${doomed.id}`)).status).toBe(202)
      const { status, body } = await answer
      expect(status).toBe(404)
      expect(JSON.parse(body)).toEqual(refusal('404 Project Not Found'))
    }
  })

  test('is uploaded again when its file was lost', async () => {
    const object = await store()
    const { oid, size } = object
    await rm(join(harness.pathOf(project), 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid))
    const [answer] = (await batch('reporter', 'download', [{ oid, size }])).body.objects
    expect(answer.error).toEqual({ code: 404, message: 'Object does not exist' })
    expect((await batch('developer', 'upload', [{ oid, size }])).body.objects[0].actions.upload).toBeDefined()
    await store(object)
    expect((await send('reporter', 'GET', `/gitlab-lfs/objects/${oid}`)).bytes.equals(object.bytes)).toBe(
      true,
    )
  })

  test('counts as new when a client is about to push it again, and not when it is read', async () => {
    const { bytes, oid, size } = await store()
    const file = join(harness.pathOf(project), 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid)
    const isYoung = async () => (await stat(file)).mtimeMs > Date.now() - 3_600_000
    const url = `/gitlab-lfs/objects/${oid}/${size}`
    const renewals: [boolean, () => Promise<unknown>][] = [
      [false, () => batch('developer', 'download', [{ oid, size }])],
      [true, () => batch('developer', 'upload', [{ oid, size }])],
      [true, () => send('developer', 'PUT', url, bytes)],
    ]
    for (const [renews, request] of renewals) {
      await utimes(file, 0, 0)
      await request()
      expect(await isYoung()).toBe(renews)
    }
  })

  test('counts in the statistics of its project, and is deleted with it', async () => {
    const own = await harness.project()
    const { bytes, oid, size } = newObject(777)
    const url = `${addressOf(harness, own)}/gitlab-lfs/objects/${oid}/${size}`
    expect((await send('developer', 'PUT', url, bytes)).status).toBe(200)
    const path = `/projects/${own.id}?statistics=true`
    const { statistics } = (await harness.ask('reporter', 'GET', path)).body
    expect(statistics).toMatchObject({ lfs_objects_size: 777, commit_count: 0 })
    expect(statistics.storage_size).toBe(statistics.repository_size + 777)
    expect((await harness.ask('guest', 'GET', path)).body).not.toHaveProperty('statistics')
    expect((await harness.ask('reporter', 'GET', `/projects/${own.id}`)).body).not.toHaveProperty(
      'statistics',
    )
    expect((await harness.ask('owner', 'DELETE', `/projects/${own.id}`)).status).toBe(202)
    await expect(readdir(harness.pathOf(own))).rejects.toThrow('ENOENT')
    expect(
      (await send('developer', 'GET', `${addressOf(harness, own)}/gitlab-lfs/objects/${oid}`)).status,
    ).toBe(404)
    expect(await harness.database.prisma.lfsObject.count({ where: { projectId: own.id } })).toBe(0)
  })
})

describe('a batch', () => {
  test('reports for each object why it cannot be stored', async () => {
    const good = newObject()
    const given = [
      { oid: good.oid, size: 5 },
      { oid: 'abc', size: 5 },
      { oid: good.oid.toUpperCase(), size: 5 },
      { oid: `../${good.oid.slice(3)}`, size: 5 },
      { oid: good.oid, size: -1 },
      { oid: good.oid, size: largestBytes + 1 },
    ]
    const { body } = await batch('developer', 'upload', given)
    const codes = (body.objects as { error?: { code: number } }[]).map(({ error }) => error?.code)
    expect(codes).toEqual([undefined, 422, 422, 422, 422, 422])
    expect(body.objects.at(-1).error.message).toBe(`An LFS object can have ${largestBytes} bytes at most`)
    const url = `/gitlab-lfs/objects/${good.oid}/${largestBytes + 1}`
    const tooLarge = await ask('developer', 'PUT', url, Buffer.alloc(largestBytes + 1))
    expect(tooLarge.status).toBe(413)
    for (const path of ['abc/5', `${good.oid}/-5`, `${good.oid}/x`, `..%2F${good.oid}/5`]) {
      const { status } = await ask('developer', 'PUT', `/gitlab-lfs/objects/${path}`)
      expect([400, 422]).toContain(status)
    }
    expect((await ask('reporter', 'GET', '/gitlab-lfs/objects/..%2F..%2FHEAD')).status).toBe(404)
  })

  test.each([
    [{ operation: 'delete' }, 422, 'operation does not have a valid value'],
    [{ objects: [] }, 422, 'objects is empty'],
    [{ objects: Array.from({ length: 1001 }, () => ({})) }, 422, 'objects has more than 1000 items'],
    [{ objects: [{ oid: 7 }] }, 422, 'objects[0][size] is missing'],
    [{ transfers: ['tus'] }, 422, 'transfers has no basic'],
    [{ hash_algo: 'md5' }, 409, 'The only hash algorithm is sha256'],
  ])('is refused: %#', async (fields, status, message) => {
    const { oid, size } = newObject()
    const answer = await batch('reporter', 'download', [{ oid, size }], fields)
    expect([answer.status, answer.body]).toEqual([status, refusal(message)])
  })

  test('that is not JSON is refused in the words of the API', async () => {
    const headers = { 'Content-Type': lfsType }
    const body = new TextEncoder().encode('{"operation":')
    const answer = await ask('reporter', 'POST', '/info/lfs/objects/batch', body, headers)
    expect([answer.status, answer.body]).toEqual([422, refusal('the body is not valid JSON')])
  })
})

describe('rights', () => {
  test.each([
    ['anonymous', 401, 401],
    ['stranger', 404, 404],
    ['guest', 403, 403],
    ['reporter', 200, 403],
    ['readsRepository', 200, 403],
    ['narrow', 403, 403],
    ['developer', 200, 200],
  ] as const)('%s: downloads %i, uploads and locks %i', async (who, downloads, writes) => {
    const { bytes, oid, size } = newObject()
    expect((await batch(who, 'download', [{ oid, size }])).status).toBe(downloads)
    expect((await ask(who, 'GET', '/info/lfs/locks')).status).toBe(downloads)
    const upload = await batch(who, 'upload', [{ oid, size }])
    // Without the right to read, the right to write is not checked.
    expect(upload.status).toBe(writes)
    expect((await send(who, 'PUT', `/gitlab-lfs/objects/${oid}/${size}`, bytes)).status).toBe(writes)
    expect((await ask(who, 'POST', '/info/lfs/locks/verify', {})).status).toBe(writes)
    const lock = await ask(who, 'POST', '/info/lfs/locks', { path: `of ${who}` })
    expect(lock.status).toBe(writes === 200 ? 201 : writes)
    if (writes === 401) expect(upload.headers.get('LFS-Authenticate')).toBe('Basic realm="Git LFS"')
    if (writes === 401) expect(upload.headers.get('WWW-Authenticate')).toContain('Basic')
  })

  test('a public project is open to everybody, but does not expose objects of a private one', async () => {
    const open = await harness.project({ visibility: 'public' })
    const hidden = await store()
    const answer = await send(
      'anonymous',
      'GET',
      `${addressOf(harness, open)}/gitlab-lfs/objects/${hidden.oid}`,
    )
    expect(answer.status).toBe(404)
    const url = `${addressOf(harness, open)}/info/lfs/objects/batch`
    const given = { operation: 'download', objects: [{ oid: hidden.oid, size: hidden.size }] }
    const { body } = await ask('anonymous', 'POST', url, given)
    expect(body.objects[0].error.code).toBe(404)
    expect((await ask('anonymous', 'POST', url, { ...given, operation: 'upload' })).status).toBe(401)
  })
})

describe('a file that is an LFS pointer', () => {
  const pointerOf = ({ oid, size }: { oid: string; size: number }) =>
    `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

  test('is sent as its object with lfs=true', async () => {
    const object = await store()
    const missing = newObject()
    const contents = { pointer: pointerOf(object), lost: pointerOf(missing), plain: 'plain' }
    const actions = Object.entries(contents).map(([file_path, content]) => ({
      action: 'create',
      file_path,
      content,
    }))
    const commit = { branch: 'main', commit_message: 'Pointers', actions }
    const commits = `/projects/${project.id}/repository/commits`
    expect((await harness.ask('developer', 'POST', commits, commit)).status).toBe(201)
    const raw = (file: string, query = '?lfs=true', headers = {}) =>
      send(
        'reporter',
        'GET',
        `${harness.baseUrl}/api/v4/projects/${project.id}/repository/files/${file}/raw${query}`,
        undefined,
        {
          'PRIVATE-TOKEN': harness.tokens.reporter,
          ...headers,
        },
      )
    expect((await raw('pointer')).bytes.equals(object.bytes)).toBe(true)
    const part = await raw('pointer', '?lfs=true', { Range: 'bytes=10-19' })
    expect([part.status, part.bytes.equals(object.bytes.subarray(10, 20))]).toEqual([206, true])
    expect((await raw('pointer', '')).bytes.toString()).toBe(contents.pointer)
    expect((await raw('plain')).bytes.toString()).toBe('plain')
    const lost = await raw('lost')
    expect([lost.status, JSON.parse(lost.bytes.toString())]).toEqual([
      404,
      refusal('404 LFS Object Not Found'),
    ])
  })
})
