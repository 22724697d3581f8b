import { createHash } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { createGitRepository, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { secretHeader } from '../../src/storages/storages.js'
import { type StorageName, type StoragesHarness, secret, startStorages } from './storages-harness.js'

let harness: StoragesHarness
/** A project in the storage `second`; the requests of this file go to `default` unless they say otherwise. */
let project: Project

beforeAll(async () => {
  harness = await startStorages()
  project = await harness.project('second', 'elsewhere')
})
afterAll(() => harness?.close())

const below = (path: string) => `/projects/${project.id}${path}`

async function metric(storage: StorageName, name: string): Promise<number> {
  const text = await (await fetch(`${harness.urlOf(storage)}/metrics`)).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
}

describe('a git-api answers for a project of another storage', () => {
  test('requests of the API that read and write', async () => {
    const before = await metric('default', 'git_api_forwarded_requests_total')
    const actions = [{ action: 'create', file_path: 'src/a b.txt', content: 'one\ntwo\n' }]
    const body = { branch: 'main', commit_message: 'Add', actions }
    const made = await harness.ask('default', 'POST', below('/repository/commits'), { body })
    expect(made).toMatchObject({ status: 201, body: { title: 'Add' } })
    const path = `/projects/olga%2Felsewhere/repository/files/${encodeURIComponent('src/a b.txt')}`
    const raw = await harness.send('default', 'GET', `${path}/raw?ref=main`)
    expect(await raw.text()).toBe('one\ntwo\n')
    const head = await harness.send('default', 'HEAD', `${path}?ref=main`)
    expect([head.status, head.headers.get('X-Gitlab-Size')]).toEqual([200, '8'])
    const status = { state: 'success', name: 'build', ref: 'main' }
    const posted = await harness.ask('default', 'POST', below(`/statuses/${made.body.id}`), { body: status })
    expect(posted.status).toBe(201)
    const note = { body: { note: 'Kept' } }
    const comment = await harness.ask(
      'default',
      'POST',
      below(`/repository/commits/${made.body.id}/comments`),
      note,
    )
    expect(comment.status).toBe(201)
    const [there, forwarded] = await Promise.all(
      (['second', 'default'] as const).map((name) =>
        harness.ask(name, 'GET', below(`/repository/commits/${made.body.id}`)),
      ),
    )
    // Links contain the address that the client used.
    const direct = JSON.stringify(there?.body).replaceAll(harness.urlOf('second'), harness.urlOf('default'))
    expect(JSON.stringify(forwarded?.body)).toBe(direct)
    expect(await metric('default', 'git_api_forwarded_requests_total')).toBe(before + 6)
  })

  test('archives and badges', async () => {
    const archive = await harness.send('default', 'GET', below('/repository/archive.tar.gz'))
    const bytes = new Uint8Array(await archive.arrayBuffer())
    expect([archive.status, bytes[0], bytes[1]]).toEqual([200, 0x1f, 0x8b])
    const badge = `${harness.urlOf('default')}/${project.pathWithNamespace}/badges/main/pipeline.svg`
    const image = await fetch(badge, { headers: { 'PRIVATE-TOKEN': harness.tokens.owner } })
    expect(image.headers.get('Content-Type')).toContain('image/svg+xml')
    await image.text()
  })

  test('clones, pushes and objects of Git LFS', async () => {
    const work = await createGitRepository()
    await work.git('fetch', '--quiet', harness.remote('default', project), 'main')
    const id = await work.commit({ branch: 'pushed', files: { 'big.bin': 'x'.repeat(3_000_000) } })
    await work.git('push', '--quiet', harness.remote('default', project), 'pushed')
    const found = await harness.ask('second', 'GET', below('/repository/branches/pushed'))
    expect(found.body.commit.id).toBe(id)

    const bytes = Buffer.alloc(200_000, 7)
    const oid = createHash('sha256').update(bytes).digest('hex')
    const headers = { Authorization: `Basic ${btoa(`any:${harness.tokens.owner}`)}` }
    const object = `${harness.urlOf('default')}/${project.pathWithNamespace}.git/gitlab-lfs/objects/${oid}`
    const stored = await fetch(`${object}/${bytes.length}`, { method: 'PUT', headers, body: bytes })
    expect(stored.status).toBe(200)
    const part = await fetch(object, { headers: { ...headers, Range: 'bytes=0-9' } })
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(0, 10)])
  })

  test('lists of projects, which show empty repositories in every storage', async () => {
    const empty = await harness.ask('second', 'POST', '/projects', { body: { path: 'empty' } })
    expect(empty.status).toBe(201)
    for (const name of ['default', 'second'] as const) {
      const { body } = await harness.ask(name, 'GET', '/projects?order_by=id&sort=asc')
      const shown = body.map((one: { path: string; empty_repo: boolean }) => [one.path, one.empty_repo])
      expect(shown).toEqual([
        ['elsewhere', false],
        ['empty', true],
      ])
    }
  })

  test('refusals, which the storage of the project decides', async () => {
    const asked = [
      harness.ask('default', 'GET', below(''), { who: null }),
      harness.ask('default', 'GET', below(''), { who: 'stranger' }),
      harness.ask('default', 'POST', below('/repository/commits'), { body: { branch: 'main' } }),
      harness.ask('default', 'GET', '/projects/999999'),
      harness.ask('default', 'GET', below('/repository/commits/nowhere')),
    ]
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses).toEqual([404, 404, 400, 404, 404])
  })

  test('with the address of the client and its request id', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7', 'X-Request-Id': 'of-the-client' }
    const changed = await harness.ask('default', 'PUT', below(''), {
      body: { description: 'Seen from afar' },
      headers,
    })
    expect([changed.status, changed.headers.get('X-Request-Id')]).toEqual([200, 'of-the-client'])
    const { body } = await harness.ask('default', 'GET', '/audit_events?event_name=project_updated', {
      who: 'admin',
    })
    expect(body[0]).toMatchObject({ details: { ip_address: '203.0.113.7' }, entity_id: String(project.id) })
  })

  test('until the client disconnects, which ends the work there, too', async () => {
    const going = new AbortController()
    const url = `${harness.urlOf('default')}/${project.pathWithNamespace}.git/gitlab-lfs/objects/${'a'.repeat(64)}/1000000`
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1000)) })
    const headers = { Authorization: `Basic ${btoa(`any:${harness.tokens.owner}`)}` }
    const init = { method: 'PUT', headers, body, duplex: 'half', signal: going.signal }
    const upload = fetch(url, init as RequestInit).catch(() => 'ended')
    // The request for the metrics counts as one.
    const underWay = () => metric('second', 'http_requests_in_flight')
    await waitFor(async () => (await underWay()) === 2, { what: 'the upload to arrive' })
    going.abort()
    expect(await upload).toBe('ended')
    await waitFor(async () => (await underWay()) === 1, { what: 'the upload to end' })
  })
})

test('a request is forwarded once: when two git-api processes disagree, the client is asked to retry', async () => {
  const forwardedBy = (value: string) =>
    harness.ask('default', 'GET', below(''), { headers: { 'X-Switchyard-Forwarded-By': value } })
  expect((await forwardedBy('second')).status, 'a client cannot say that a request was forwarded').toBe(200)
  const answer = await forwardedBy(secret)
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '2'])
  expect(answer.body.message).toBe('503 Service Unavailable - the project is being moved to another storage')
  expect(await metric('default', 'git_api_refused_forwards_total')).toBe(1)
})

describe('the internal API between storages', () => {
  const askInternally = (path: string, header?: string) =>
    fetch(`${harness.urlOf('second')}/-/storages${path}`, {
      headers: header === undefined ? {} : { [secretHeader]: header },
    })

  test('does not exist without the secret', async () => {
    const path = `/projects/${project.id}/lfs_objects`
    const statuses = [
      await askInternally(path),
      await askInternally(path, 'wrong'),
      await askInternally(path, secret),
    ]
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 200])
  })

  test('shows hidden references to other storages, and no project that is not there', async () => {
    const repository = `${harness.urlOf('second')}/-/storages/projects/${project.id}/repository.git`
    const work = await createGitRepository()
    const header = `http.extraHeader=${secretHeader}: ${secret}`
    const listed = await work.git('-c', header, 'ls-remote', repository)
    expect(listed).toContain('refs/keep-around/')
    expect((await askInternally('/projects/999999/lfs_objects', secret)).status).toBe(404)
  })
})

describe('POST /projects/:id/repository_storage_moves', () => {
  const request = (body: object, who: 'admin' | 'owner' | 'stranger' | null = 'admin', id = project.id) =>
    harness.ask('default', 'POST', `/projects/${id}/repository_storage_moves`, { who, body })

  test('refuses impossible moves, and everybody but administrators', async () => {
    const to = { destination_storage_name: 'default' }
    expect(await request({})).toMatchObject({ status: 400 })
    expect(await request({ destination_storage_name: 'third' })).toMatchObject({
      status: 400,
      body: { message: { destination_storage_name: ['is not known'] } },
    })
    expect(await request({ destination_storage_name: 'second' })).toMatchObject({
      status: 400,
      body: { message: { destination_storage_name: ['holds the repository already'] } },
    })
    expect((await request(to, null)).status).toBe(401)
    expect((await request(to, 'owner')).status).toBe(403)
    expect((await request(to, 'admin', 999_999)).status).toBe(404)
  })

  test('moves one project at a time, records it in the audit log, and leaves it in place when the move fails', async () => {
    // A row without a repository, so that the copy fails at once.
    const broken = await harness.createRow({ path: 'broken' })
    const to = { destination_storage_name: 'second' }
    const asked = await Promise.all([request(to, 'admin', broken.id), request(to, 'admin', broken.id)])
    expect(asked.map(({ status }) => status).sort()).toEqual([201, 409])
    const id = asked.find(({ status }) => status === 201)?.body.id
    expect(await harness.ended(id)).toMatchObject({ state: 'failed' })

    const path = `/projects/${broken.id}/repository_storage_moves`
    const { body, headers } = await harness.ask('second', 'GET', path, { who: 'admin' })
    expect([headers.get('X-Total'), body[0].state, body[0].project.path]).toEqual(['1', 'failed', 'broken'])
    const one = await harness.ask('second', 'GET', `${path}/${id}`, { who: 'admin' })
    expect(one.body).toEqual(body[0])
    expect((await harness.ask('second', 'GET', `${path}/999999`, { who: 'admin' })).status).toBe(404)
    expect((await harness.ask('second', 'GET', path)).status).toBe(403)
    const found = await harness.database.prisma.project.findUniqueOrThrow({ where: { id: broken.id } })
    expect(found.storage).toBe('default')
    const audit = '/audit_events?event_name=project_storage_move_requested'
    const events = await harness.ask('default', 'GET', audit, { who: 'admin' })
    expect(events.body).toHaveLength(1)
  })
})

test('while a storage is unreachable, its projects answer 503 and all others work', async () => {
  await harness.kill('second')
  const away = await harness.ask('default', 'GET', below(''))
  expect([away.status, away.headers.get('Retry-After')]).toEqual([503, '2'])
  const here = await harness.project('default', 'here')
  expect((await harness.ask('default', 'GET', `/projects/${here.id}`)).status).toBe(200)
  expect((await harness.ask('default', 'GET', '/projects')).status).toBe(200)
})
