import { randomBytes } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { startTestRedis, type TestGitRepository, type TestRedis, waitFor } from '@switchyard/testing'
import { verify } from '@switchyard/webhooks/signature'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'
import { outcome } from '../harness.js'
import { startWorkerProcess } from '../worker-process.js'
import { type ReceivedHook, startHookReceiver } from './hook-receiver.js'

let redis: TestRedis
let harness: GitHarness
let worker: Awaited<ReturnType<typeof startWorkerProcess>>
let receiver: Awaited<ReturnType<typeof startHookReceiver>>
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

const env = {
  WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
  WEBHOOK_SECRET_KEYS: randomBytes(32).toString('base64'),
}
const token = 'shared with the receiver'.replaceAll(' ', '-')
const everything = {
  push_events: true,
  tag_push_events: true,
  note_events: true,
  job_events: true,
  pipeline_events: true,
  deployment_events: true,
  releases_events: true,
}

beforeAll(async () => {
  redis = await startTestRedis()
  harness = await startGitHarness({ redisUrl: redis.urlOf('git-api'), env })
  worker = await startWorkerProcess({
    ...env,
    DATABASE_URL: harness.databaseUrl,
    REDIS_URL: redis.urlOf('worker'),
    SWITCHYARD_STORAGE_ROOT: harness.storageRoot,
  })
  ;({ project, work, commits } = await pushSample(harness))
})
// Each test has its own receiver, because deliveries of an earlier test may still arrive.
beforeEach(async () => {
  receiver = await startHookReceiver()
})
afterEach(async () => {
  await harness.database.prisma.webhook.deleteMany()
  receiver.close()
})
afterAll(async () => {
  await worker?.close()
  await work?.close()
  await harness?.close()
  await redis?.stop()
})

type Shown = Record<string, unknown> & { id: number }

const hooks = (suffix: string | number = '', of = project) =>
  `/projects/${of.id}/hooks${suffix === '' ? '' : `/${suffix}`}`
const ask = (method: string, path: string, body?: unknown) =>
  outcome(harness.send('owner', method, path, body))
async function added(fields: Record<string, unknown> = {}): Promise<Shown> {
  const { status, body } = await ask('POST', hooks(), { url: receiver.url, token, ...fields })
  expect(status).toBe(201)
  return body as Shown
}

const told = (event: string) => receiver.received.filter(({ headers }) => headers['x-gitlab-event'] === event)

/** Waits for the given number of deliveries of an event, and checks the fields that all of them have. */
async function toldOf(event: string, count: number): Promise<ReceivedHook[]> {
  await waitFor(async () => told(event).length >= count, { what: `${count} times ${event}` })
  const hits = told(event)
  expect(hits).toHaveLength(count)
  for (const { headers, body } of hits) {
    const signature = String(headers['x-switchyard-signature'])
    expect(verify({ secret: token, signature, body })).toBe(true)
    expect(verify({ secret: token, signature, body: `${body} ` })).toBe(false)
    expect(headers).toMatchObject({ 'x-gitlab-token': token, 'content-type': 'application/json' })
  }
  return hits
}

const deploymentOf = (sha: string, fields: object) => ({
  environment: 'review/hooks',
  sha,
  ref: 'main',
  tag: false,
  ...fields,
})

const postStatus = (sha: string, state: string) =>
  ask('POST', `/projects/${project.id}/statuses/${sha}`, { state, name: 'hooked', ref: 'main' })

test('a webhook is created, shown in the shape of GitLab, changed and deleted, and the audit log records by whom', async () => {
  const hook = await added()
  expect(hook).toMatchObject({
    url: receiver.url,
    project_id: project.id,
    push_events: true,
    tag_push_events: false,
    note_events: false,
    job_events: false,
    pipeline_events: false,
    merge_requests_events: false,
    enable_ssl_verification: true,
    alert_status: 'executable',
  })
  expect(await ask('GET', hooks(hook.id))).toEqual({ status: 200, body: hook })
  const list = await harness.send('owner', 'GET', hooks())
  expect([list.headers.get('x-total'), await list.json()]).toEqual(['1', [hook]])

  const changed = await ask('PUT', hooks(hook.id), { push_events: false, note_events: 'true', token: '' })
  expect(changed).toMatchObject({
    status: 200,
    body: { url: receiver.url, push_events: false, note_events: true, tag_push_events: false },
  })
  expect(await harness.database.prisma.webhook.findUnique({ where: { id: hook.id } })).toMatchObject({
    secret: null,
    events: ['note'],
  })
  expect(await ask('PUT', hooks(hook.id), { enabled: false })).toMatchObject({
    body: { alert_status: 'disabled', note_events: true },
  })
  expect(await ask('DELETE', hooks(hook.id))).toEqual({ status: 204, body: null })
  expect(await ask('GET', hooks(hook.id))).toMatchObject({ status: 404 })

  const log = await harness.database.prisma.auditEvent.findMany({
    where: { entityId: String(project.id), eventName: { startsWith: 'webhook_' } },
    orderBy: { id: 'asc' },
  })
  const base = { webhook_id: hook.id, host: '127.0.0.1' }
  expect(log).toMatchObject([
    { eventName: 'webhook_created', authorName: 'Olga Owner', details: { ...base, events: ['push'] } },
    { eventName: 'webhook_changed', details: { ...base, events: ['note'], enabled: true } },
    { eventName: 'webhook_changed', details: { ...base, enabled: false } },
    { eventName: 'webhook_deleted', details: base },
  ])
  expect(JSON.stringify(log.map(({ details }) => details))).not.toContain(token)
})

test.each([
  [{}, { error: 'url is missing' }],
  [{ url: ' ' }, { error: 'url is empty' }],
  [{ url: 'http://x.example', push_events: 'maybe' }, { error: 'push_events is invalid' }],
  [{ url: 'ftp://x.example' }, { message: { url: [expect.any(String)] } }],
  [{ url: 'http://10.0.0.1/hook' }, { message: { url: [expect.stringContaining('not a public address')] } }],
  [{ url: 'http://169.254.169.254/' }, { message: { url: [expect.stringContaining('link local')] } }],
  [{ url: 'http://[::1]:8080/' }, { message: { url: [expect.stringContaining('loopback')] } }],
  [{ url: 'http://x.example', token: 'line\nbreak' }, { message: { token: [expect.any(String)] } }],
])('%j is refused and nothing is made', async (body, refusal) => {
  expect(await ask('POST', hooks(), body)).toEqual({ status: 400, body: refusal })
  expect(await harness.database.prisma.webhook.count()).toBe(0)
})

test('webhooks of other projects and of sagas, and deliveries of other webhooks, are not found', async () => {
  const hook = await added()
  const other = await harness.project()
  const delivery = (await ask('POST', hooks(`${hook.id}/test/push_events`))).body as { id: string }
  const saga = await harness.database.prisma.webhook.create({
    data: { scope: 'saga', tenant: 'default', url: receiver.url, host: '127.0.0.1', events: ['saga.error'] },
  })
  const second = await added()
  for (const [method, path] of [
    ['GET', hooks(hook.id, other)],
    ['PUT', hooks(hook.id, other)],
    ['DELETE', hooks(hook.id, other)],
    ['POST', hooks(`${hook.id}/test/push_events`, other)],
    ['GET', hooks(`${hook.id}/deliveries`, other)],
    ['GET', hooks(saga.id)],
    ['GET', hooks(`${second.id}/deliveries/${delivery.id}`)],
    ['POST', hooks(`${second.id}/deliveries/${delivery.id}/redeliver`)],
  ] as const) {
    expect([method, path, (await ask(method, path)).status]).toEqual([method, path, 404])
  }
  expect((await ask('GET', hooks(`${hook.id}/deliveries/no-uuid`))).status).toBe(400)
  expect((await ask('POST', hooks(`${hook.id}/test/issues_events`))).status).toBe(400)
})

test('pushes and tags are delivered with their commits, by git and by the API', async () => {
  await added({ tag_push_events: true })
  const before = commits.third
  await work.git('switch', '--quiet', 'main')
  const one = await work.commit({ files: { 'a.txt': 'a', 'b.txt': 'b' }, message: 'One' })
  const two = await work.commit({ files: { 'a.txt': null, 'b.txt': 'c' }, message: 'Two\n\nWith a body' })
  await work.git('push', '--quiet', harness.remote('developer', project), 'main')
  const [pushed] = await toldOf('Push Hook', 1)
  expect(pushed?.json).toMatchObject({
    object_kind: 'push',
    before,
    after: two,
    ref: 'refs/heads/main',
    checkout_sha: two,
    user_username: 'dora',
    project_id: project.id,
    total_commits_count: 2,
    commits: [
      { id: one, title: 'One', added: ['a.txt', 'b.txt'], modified: [], removed: [] },
      { id: two, title: 'Two', added: [], modified: ['b.txt'], removed: ['a.txt'] },
    ],
  })
  expect(pushed?.json.project).toMatchObject({ path_with_namespace: project.pathWithNamespace })

  await work.git('tag', 'v2', two)
  await work.git('push', '--quiet', harness.remote('developer', project), 'v2')
  const [tagged] = await toldOf('Tag Push Hook', 1)
  expect(tagged?.json).toMatchObject({ ref: 'refs/tags/v2', before: '0'.repeat(40), after: two })

  const made = await ask('POST', `/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'By the API',
    actions: [{ action: 'create', file_path: 'c', content: 'c' }],
  })
  const [, byApi] = await toldOf('Push Hook', 2)
  expect(byApi?.json).toMatchObject({ before: two, after: made.body?.id, total_commits_count: 1 })
})

test('a commit that the database could not record is delivered once, when the database works again', async () => {
  await added()
  await harness.database.pool.query('ALTER TABLE webhook_deliveries RENAME TO away')
  let id: unknown
  try {
    const { status, body } = await ask('POST', `/projects/${project.id}/repository/commits`, {
      branch: 'noted-later',
      start_branch: 'main',
      commit_message: 'noted later',
      actions: [{ action: 'create', file_path: 'noted-later', content: 'x' }],
    })
    expect(status).toBe(201)
    id = (body as { id: string }).id
  } finally {
    await harness.database.pool.query('ALTER TABLE away RENAME TO webhook_deliveries')
  }
  const [hit] = await toldOf('Push Hook', 1)
  expect(JSON.parse(hit?.body ?? '')).toMatchObject({ after: id })
})

test('comments and changes of statuses are delivered, an unchanged state is not', async () => {
  await added({ ...everything, push_events: false })
  const path = `/projects/${project.id}/repository/commits/${commits.first}/comments`
  const comment = await ask('POST', path, { note: 'See this', path: 'README.md', line: 1 })
  const [note] = await toldOf('Note Hook', 1)
  expect(note?.json).toMatchObject({
    object_kind: 'note',
    project_id: project.id,
    user: { username: 'olga' },
    object_attributes: { id: comment.body?.id, note: 'See this', noteable_type: 'Commit', action: 'create' },
    commit: { id: commits.first, title: 'First' },
  })

  const pipelines: unknown[] = []
  for (const state of ['pending', 'running', 'running', 'success']) {
    pipelines.push((await postStatus(commits.second, state)).body?.pipeline_id)
  }
  const jobs = await toldOf('Job Hook', 3)
  const states = jobs.map(({ json }) => json.build_status)
  expect([...states].sort()).toEqual(['pending', 'running', 'success'])
  expect(jobs.find(({ json }) => json.build_status === 'success')?.json).toMatchObject({
    object_kind: 'build',
    sha: commits.second,
    ref: 'main',
    build_name: 'hooked',
    build_stage: 'external',
    project_id: project.id,
    pipeline_id: pipelines[0],
    // As in GitLab, this is the id of the pipeline: its receivers accept no text here.
    commit: { id: pipelines[0], sha: commits.second, status: 'success' },
  })
  expect(told('Push Hook')).toEqual([])
})

test('the combined state of all statuses of a commit and branch is delivered as a pipeline whenever it changes', async () => {
  await added({ push_events: false, pipeline_events: true })
  const made = await ask('POST', `/projects/${project.id}/repository/commits`, {
    branch: 'built',
    start_branch: 'main',
    commit_message: 'Build this',
    actions: [{ action: 'create', file_path: 'built', content: 'b' }],
  })
  const sha = String(made.body?.id)
  const ids: unknown[] = []
  const pipelines: unknown[] = []
  for (const [name, state] of [
    'unit pending',
    'e2e running',
    'unit success',
    'e2e failed',
    'e2e success',
  ].map((post) => post.split(' '))) {
    const { body } = await ask('POST', `/projects/${project.id}/statuses/${sha}`, {
      name,
      state,
      ref: 'built',
    })
    ids.push(body?.id)
    pipelines.push(body?.pipeline_id)
  }
  const told = (await toldOf('Pipeline Hook', 4)).map(({ json }) => json as unknown as PipelineBody)
  const states = told.map(({ object_attributes }) => object_attributes.status)
  expect(states.sort()).toEqual(['failed', 'pending', 'running', 'success'])
  expect(new Set(told.map(({ object_attributes }) => object_attributes.id))).toEqual(new Set(pipelines))
  expect(told.find(({ object_attributes }) => object_attributes.status === 'success')).toMatchObject({
    object_kind: 'pipeline',
    object_attributes: {
      ref: 'built',
      sha,
      source: 'external',
      detailed_status: 'passed',
      stages: ['external'],
    },
    user: { username: 'olga' },
    project: { id: project.id },
    commit: { id: sha, title: 'Build this' },
    builds: [
      { id: ids[4], name: 'e2e', status: 'success' },
      { id: ids[0], name: 'unit', status: 'success' },
    ],
  })
})

interface PipelineBody {
  object_attributes: { id: number; status: string }
}

test('a test sends the newest event of its kind, and a delivery is sent again under its id', async () => {
  const hook = await added({ push_events: false })
  await ask('POST', `/projects/${project.id}/repository/commits/${commits.side}/comments`, { note: 'Newest' })
  await postStatus(commits.side, 'failed')
  await ask(
    'POST',
    `/projects/${project.id}/deployments`,
    deploymentOf(commits.side, { status: 'running', environment: 'trial' }),
  )
  await ask('POST', `/projects/${project.id}/releases`, { tag_name: 'v1.0', name: 'Trial' })
  for (const event of Object.keys(everything)) {
    const tried = await ask('POST', hooks(`${hook.id}/test/${event}`))
    expect(tried).toMatchObject({ status: 201, body: { message: '201 Created', state: 'pending' } })
  }
  const tip = (await work.git('ls-remote', harness.remote('owner', project), 'main')).split('\t')[0]
  expect((await toldOf('Push Hook', 1))[0]?.json).toMatchObject({ after: tip, total_commits_count: 1 })
  expect((await toldOf('Tag Push Hook', 1))[0]?.json).toMatchObject({ after: tip })
  expect((await toldOf('Note Hook', 1))[0]?.json).toMatchObject({ object_attributes: { note: 'Newest' } })
  const [job] = await toldOf('Job Hook', 1)
  expect(job?.json).toMatchObject({ build_status: 'failed', sha: commits.side })

  expect((await toldOf('Pipeline Hook', 1))[0]?.json).toMatchObject({
    object_attributes: { status: 'failed', sha: commits.side },
  })

  const [deployment] = await toldOf('Deployment Hook', 1)
  expect(deployment?.json).toMatchObject({ status: 'running', environment: 'trial' })

  const [release] = await toldOf('Release Hook', 1)
  expect(release?.json).toMatchObject({ action: 'create', tag: 'v1.0', name: 'Trial' })

  const id = String(job?.headers['x-gitlab-event-uuid'])
  const delivery = hooks(`${hook.id}/deliveries/${id}`)
  await waitFor(async () => (await ask('GET', delivery)).body?.state === 'succeeded', { what: 'the end' })
  expect((await ask('GET', delivery)).body).toMatchObject({
    event: 'job',
    response_status: 200,
    response_body: 'taken',
    request_body: job?.body,
  })
  const list = await harness.send('owner', 'GET', `${hooks(hook.id)}/deliveries?state=succeeded`)
  expect(await list.json()).toContainEqual(expect.objectContaining({ id, attempts: 1 }))
  expect(await ask('POST', `${delivery}/redeliver`)).toMatchObject({ status: 202, body: { id } })
  const [, again] = await toldOf('Job Hook', 2)
  expect([again?.headers['x-gitlab-event-uuid'], again?.body]).toEqual([id, job?.body])

  await ask('PUT', hooks(hook.id), { enabled: false })
  expect((await ask('POST', `${delivery}/redeliver`)).status).toBe(409)
  expect((await ask('POST', hooks(`${hook.id}/test/job_events`))).status).toBe(409)
})

test('an event that never happened cannot be tested', async () => {
  const empty = await harness.project()
  const { body } = await ask('POST', hooks('', empty), { url: receiver.url, token })
  for (const event of Object.keys(everything)) {
    const tried = await ask('POST', hooks(`${body?.id}/test/${event}`, empty))
    const message = expect.stringContaining('Ensure the project')
    expect(tried).toMatchObject({ status: 400, body: { message } })
  }
})
