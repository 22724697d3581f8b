import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { credentials, Metadata } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPostgres } from '../../packages/local-servers/src/index.js'
import { startTree, type Tree } from '../support/tree.js'
import { ask, makeWholeProject, readWholeProject } from './whole-project.js'

const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'switchyard-e2e-backup-'))
const folder = join(scratch, 'backup')
const webhookSecret = 'whsec-of-the-backup-test'
const webhooks = { WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }

let tree: Tree
let sagas: SagaClient
let firstCommit: string
let userToken: string
const received: IncomingHttpHeaders[] = []
const receiver = createServer((request, response) => {
  received.push(request.headers)
  request.resume()
  response.end()
})

async function call(path: string, body?: Record<string, unknown>, token = tree.rootToken) {
  const response = await fetch(`${tree.url}/api/v4/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return { headers: response.headers, body: JSON.parse(text) }
}

/** Returns all pages of a list. */
async function listAll(path: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = []
  let next: string | undefined = `${path}${path.includes('?') ? '&' : '?'}per_page=100`
  while (next !== undefined) {
    const { headers, body } = await call(next)
    items.push(...body)
    next = /api\/v4\/([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1]
  }
  return items
}

const commit = (name: string) =>
  call('projects/root%2Fsafe/repository/commits', {
    branch: 'main',
    commit_message: name,
    actions: [{ action: 'create', file_path: name, content: name }],
  })

const work = join(scratch, 'work')
const git = async (...args: string[]) => {
  const identity = ['-c', 'user.name=E', '-c', 'user.email=e@example.com', '-c', 'maintenance.auto=false']
  return (await execa('git', [...identity, ...args], { cwd: work })).stdout
}
const remote = () => tree.url.replace('://', `://root:${tree.rootToken}@`)

const lfsAddress = (oid: string) => `${tree.url}/root/safe.git/gitlab-lfs/objects/${oid}`
const lfsHeaders = () => ({ Authorization: `Basic ${btoa(`root:${tree.rootToken}`)}` })

async function uploadObject(): Promise<string> {
  const bytes = randomBytes(20_000)
  const oid = createHash('sha256').update(bytes).digest('hex')
  const response = await fetch(`${lfsAddress(oid)}/${bytes.length}`, {
    method: 'PUT',
    headers: lfsHeaders(),
    body: bytes,
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return oid
}

/** Functions that make one write under a new name. @returns the key for reading it back */
const writers: Record<string, (name: string) => Promise<string>> = {
  commits: async (name) => (await commit(name)).body.id,
  pushes: async (name) => {
    await git('commit', '--quiet', '--allow-empty', '-m', name)
    await git('push', '--quiet', `${remote()}/root/safe.git`, `HEAD:refs/heads/pushed`)
    return git('rev-parse', 'HEAD')
  },
  statuses: async (name) => {
    await call(`projects/root%2Fsafe/statuses/${firstCommit}`, { state: 'success', name })
    return name
  },
  events: async (name) => {
    const event = { operation: 'SagaStarted', event_id: name, saga_id: name, service_name: 'http' }
    await call('saga_events', { events: [event] })
    return name
  },
  sagas: (name) =>
    new Promise((resolve, reject) => {
      const done = (error: Error | null, answer?: CommonResponse) =>
        error || !answer?.isSuccess ? reject(error ?? new Error('refused')) : resolve(name)
      sagas.sagaStarted({ sagaId: name, serviceName: 'grpc' }, new Metadata(), done)
    }),
  lfs: uploadObject,
}

interface Acknowledged {
  name: string
  at: number
}
const acknowledged: Record<string, Acknowledged[]> = Object.fromEntries(
  Object.keys(writers).map((kind) => [kind, []]),
)

async function writeUntil(kind: string, stopped: () => boolean): Promise<void> {
  for (let number = 1; !stopped(); number += 1) {
    const name = await writers[kind]?.(`${kind}-${number}`)
    acknowledged[kind]?.push({ name: name ?? '', at: Date.now() })
    // Everything is read back one by one, so the load is limited.
    await delay(50)
  }
}

const countOf = (kind: string) => acknowledged[kind]?.length ?? 0
const progressed = () => {
  const before = Object.keys(writers).map((kind) => countOf(kind))
  return () => Object.keys(writers).every((kind, index) => countOf(kind) > (before[index] ?? 0) + 3)
}

const command = (name: 'backup' | 'restore', env: Record<string, string>, ...options: string[]) =>
  execa(process.execPath, [`ops/${name}.mjs`, ...options, folder], {
    cwd: root,
    env: { DATABASE_URL: '', SWITCHYARD_STORAGE_ROOT: '', ...env },
    all: true,
    reject: false,
  })

const cutOf = () => Date.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).cut)
const tablesOf = () => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).database.tables
const namesBefore = (kind: string, cut: number) =>
  (acknowledged[kind] ?? []).filter(({ at }) => at < cut).map(({ name }) => name)

beforeAll(async () => {
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  tree = await startTree({ dataDir: join(scratch, 'first'), env: webhooks })
  sagas = new SagaClient(tree.grpcAddress, credentials.createInsecure())
  await call('projects', { name: 'safe' })
  firstCommit = (await commit('first')).body.id
  const { port } = receiver.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/hook`
  await call('projects/root%2Fsafe/hooks', { url, token: webhookSecret, push_events: true })
  await call('sagas/webhooks', { url, secret: webhookSecret, events: ['saga.ended'] })
  const user = await call('users', { username: 'ann', name: 'Ann', email: 'ann@example.com' })
  const made = await call(`users/${user.body.id}/personal_access_tokens`, { name: 'mine', scopes: ['api'] })
  userToken = made.body.token
  await execa('git', ['init', '--quiet', work])
})

afterAll(async () => {
  sagas?.close()
  receiver.close()
  await tree?.stop()
  rmSync(scratch, { recursive: true, force: true })
})

/** Returns the acknowledged writes before the cut that are missing, by kind. */
async function findLost(cut: number): Promise<Record<string, string[]>> {
  const list = 'projects/root%2Fsafe/repository/commits'
  const idsOf = (items: Record<string, unknown>[], key: string) => new Set(items.map((item) => item[key]))
  const there: Record<string, Set<unknown>> = {
    commits: idsOf(await listAll(list), 'id'),
    pushes: idsOf(await listAll(`${list}?ref_name=pushed`), 'id'),
    statuses: idsOf(await listAll(`${list}/${firstCommit}/statuses?all=true`), 'name'),
    lfs: new Set(),
    events: new Set(),
    sagas: new Set(),
  }
  for (const oid of namesBefore('lfs', cut)) {
    const bytes = await (await fetch(lfsAddress(oid), { headers: lfsHeaders() })).arrayBuffer()
    if (createHash('sha256').update(new Uint8Array(bytes)).digest('hex') === oid) there.lfs?.add(oid)
  }
  for (const kind of ['events', 'sagas']) {
    for (const name of namesBefore(kind, cut)) {
      // The log has its event exactly once.
      if ((await call(`sagas/${name}/events`)).body.length === 1) there[kind]?.add(name)
    }
  }
  return Object.fromEntries(
    Object.keys(writers).map((kind) => [
      kind,
      namesBefore(kind, cut).filter((name) => !there[kind]?.has(name)),
    ]),
  )
}

it('a restore has everything that was acknowledged before the cut of a backup under load', async () => {
  let stopped = false
  const writing = Promise.all(Object.keys(writers).map((kind) => writeUntil(kind, () => stopped)))
  const loaded = async (until: () => boolean) =>
    Promise.race([
      waitFor(until, { what: 'work' }),
      writing.then(() => Promise.reject(new Error('writing ended'))),
    ])
  const source = { SWITCHYARD_DATA: tree.dataDir }

  await loaded(progressed())
  const first = await command('backup', source)
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 repositories') })
  const firstCut = cutOf()
  await loaded(progressed())
  expect(await command('backup', source)).toMatchObject({ exitCode: 0 })
  const cut = cutOf()
  await loaded(progressed())
  stopped = true
  await writing
  for (const kind of Object.keys(writers)) {
    const before = namesBefore(kind, cut)
    expect(before.length, kind).toBeGreaterThan(namesBefore(kind, firstCut).length)
    expect(countOf(kind), kind).toBeGreaterThan(before.length)
  }
  expect(first.all).not.toContain(tree.rootToken)
  expect(await command('restore', source)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^✗ .* is not empty: restore into an empty installation$/),
  })
  const { rootToken } = tree
  await tree.stop()

  const dataDir = join(scratch, 'second')
  const target = { SWITCHYARD_DATA: dataDir }
  const list = join(folder, 'runs', JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).run)
  const file = join(list, 'sagas.copy.gz')
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.subarray(1))
  const refused = await command('restore', target)
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Nothing was restored') })
  expect(() => statSync(dataDir)).toThrow('ENOENT')
  writeFileSync(file, bytes)

  expect(await command('restore', target)).toMatchObject({ exitCode: 0 })
  expect(statSync(join(dataDir, 'root-token')).mode & 0o777).toBe(0o600)
  tree = await startTree({ dataDir, env: webhooks })
  expect(tree.rootToken).toBe(rootToken)
  expect((await call('user', undefined, userToken)).body.username).toBe('ann')
  expect(await findLost(cut)).toEqual(Object.fromEntries(Object.keys(writers).map((kind) => [kind, []])))

  // The service continues: the secrets of webhooks can be read, ids of events are known, and new ids do not
  // collide with old ones.
  received.length = 0
  await commit('after the restore')
  const known = namesBefore('events', cut)[0]
  const events = [
    { operation: 'SagaStarted', event_id: known, saga_id: known, service_name: 'http' },
    { operation: 'SagaEnded', event_id: 'end', saga_id: known },
  ]
  const { body } = await call('saga_events', { events })
  expect(body.results.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['duplicate', 'recorded'])
  await waitFor(
    () => {
      const tokens = received.some((headers) => headers['x-gitlab-token'] === webhookSecret)
      return (
        tokens && received.some((headers) => !headers['x-gitlab-event'] && headers['x-switchyard-signature'])
      )
    },
    { what: 'both webhooks' },
  )
})

it('one project is restored during traffic, with the same answers as before, and an interrupted restore leaves nothing', async () => {
  const instance = { url: tree.url, token: tree.rootToken }
  const env = { SWITCHYARD_DATA: tree.dataDir }
  const { body: ann } = await call('users?username=ann')
  const id = await makeWholeProject(instance, 'whole7d1', ann[0].id)
  const before = await readWholeProject(instance, 'root/whole7d1')
  expect(await command('backup', env)).toMatchObject({ exitCode: 0 })
  let stopped = false
  const writing = Promise.all(['lfs', 'statuses'].map((kind) => writeUntil(kind, () => stopped)))
  writing.catch(() => {})
  const restore = (...options: string[]) => command('restore', env, '--project', 'root/whole7d1', ...options)

  expect(await restore()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('There is a project'),
  })
  const beside = await restore('--as', 'root/again7d1')
  expect(beside).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('restored root/whole7d1 as root/again7d1'),
  })
  const isSame = (given: Awaited<ReturnType<typeof readWholeProject>>) => {
    for (const [template, answer] of Object.entries(before))
      if (!template.includes('/hooks')) expect(given[template], template).toEqual(answer)
    const hook = {
      url: 'https://hooks.example.com/x',
      enabled: false,
      disabled_reason: 'restored from a backup',
    }
    expect(given['/projects/{id}/hooks']?.body).toEqual([expect.objectContaining(hook)])
  }
  isSame(await readWholeProject(instance, 'root/again7d1'))

  await ask(instance, 'DELETE', `projects/${id}`)
  const isThere = async () => (await ask(instance, 'GET', 'projects/root%2Fwhole7d1')).status === 200
  await waitFor(async () => !(await isThere()), { what: 'the deletion' })
  const killed = restore()
  killed.stderr?.on('data', (text) => String(text).includes('check of the tables') && killed.kill('SIGKILL'))
  await killed
  expect(await isThere()).toBe(false)
  const { exitCode, all } = await restore()
  expect(exitCode, all).toBe(0)
  isSame(await readWholeProject(instance, 'root/whole7d1'))
  stopped = true
  await writing
})

it('a backup is restored into a separate PostgreSQL, and the next backup comes from there', async () => {
  const postgres = await startPostgres({ dataDir: join(scratch, 'postgres'), log: () => {}, durable: false })
  try {
    const own = { DATABASE_URL: postgres.url, SWITCHYARD_STORAGE_ROOT: join(scratch, 'storage') }
    const restored = await command('restore', own)
    expect(restored.exitCode, restored.all).toBe(0)
    const tables = tablesOf()
    const again = await command('backup', own)
    expect(again.exitCode, again.all).toBe(0)
    expect(tablesOf()).toEqual(tables)
    expect(restored.all + again.all).not.toContain(new URL(postgres.url).password)
  } finally {
    await postgres.stop()
  }
})
