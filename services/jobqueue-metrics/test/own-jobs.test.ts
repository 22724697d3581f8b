import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import { createProject, createUser } from '@switchyard/testing'
import { type Job, Queue, UnrecoverableError, Worker } from 'bullmq'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'

type Who = Parameters<Awaited<ReturnType<typeof startHarness>>['get']>[0]

let harness: Awaited<ReturnType<typeof startHarness>>
const queues = new Map<string, Queue>()

beforeAll(async () => {
  harness = await startHarness()
})
afterEach(async () => {
  for (const queue of queues.values()) await queue.obliterate({ force: true })
})
afterAll(async () => {
  await Promise.all([...queues.values()].map((queue) => queue.close()))
  await harness.close()
})

function queueOf(name: string): Queue {
  const known = queues.get(name)
  if (known) return known
  const queue = new Queue(name, { connection: { path: harness.testRedis.path }, prefix: jobKeyPrefix })
  queue.on('error', () => {})
  queues.set(name, queue)
  return queue
}

/** Adds a job and fails it as a worker does. */
async function failedJob(name: string, data: object, reason = 'it broke', attempts = 1): Promise<string> {
  const queue = queueOf(name)
  const added = await queue.add(name, data, { attempts })
  const connection = { path: harness.testRedis.path, maxRetriesPerRequest: null }
  const worker = new Worker(name, null, { connection, prefix: jobKeyPrefix, autorun: false })
  worker.on('error', () => {})
  try {
    const job = await worker.getNextJob('token')
    expect(job?.id).toBe(added.id)
    await (job as Job).moveToFailed(new UnrecoverableError(reason), 'token')
  } finally {
    await worker.close()
  }
  return added.id ?? ''
}

async function ask(who: Who, method: string, path: string) {
  const response = await harness.get(who, `/jobqueue/jobs${path}`, { method })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}

const events = async () =>
  harness.database.prisma.auditEvent.findMany({ where: { entityType: 'Job' }, orderBy: { id: 'desc' } })

it('failed jobs of a queue and of all queues are listed in pages, the newest failure first', async () => {
  expect(await ask('admin', 'GET', '')).toMatchObject({ status: 200, body: [] })
  const ids: string[] = []
  for (const [index, queue] of ['saga-retention', 'repository-housekeeping', 'saga-retention'].entries()) {
    ids.push(`${queue} ${await failedJob(queue, index === 1 ? { projectId: 7 } : {})}`)
  }
  await queueOf('saga-retention').add('saga-retention', {})
  const namesOf = (body: { queue: string; id: string }[]) => body.map(({ queue, id }) => `${queue} ${id}`)
  const all = await ask('admin', 'GET', '?state=failed')
  expect(namesOf(all.body)).toEqual(ids.toReversed())
  const second = await ask('admin', 'GET', '?page=2&per_page=2')
  expect(namesOf(second.body)).toEqual(ids.slice(0, 1))
  expect([second.headers.get('X-Total'), second.headers.get('X-Total-Pages')]).toEqual(['3', '2'])
  const one = await ask('admin', 'GET', '?queue=saga-retention&per_page=1&page=2')
  expect(namesOf(one.body)).toEqual([ids[0]])
  expect(one.headers.get('X-Total')).toBe('2')
  expect((await ask('admin', 'GET', '?queue=webhook-delivery')).body).toEqual([])
})

it('a job is shown without the values of its payload and without secrets in its reason', async () => {
  const secret = 'whsec-0123456789'
  const reason = `no answer from https://user:${secret}@hooks.example.com/${secret}?token=${secret}`
  const id = await failedJob('webhook-delivery', { host: secret, secret }, reason, 3)
  const listed = await ask('admin', 'GET', '')
  const found = await ask('admin', 'GET', `/webhook-delivery/${id}`)
  expect(found.status).toBe(200)
  expect(listed.body).toEqual([found.body])
  expect(JSON.stringify(found.body)).not.toContain(secret)
  expect(found.body).toEqual({
    queue: 'webhook-delivery',
    id,
    name: 'webhook-delivery',
    state: 'failed',
    attempts_made: 1,
    attempts_max: 3,
    failed_reason: 'no answer from https://hooks.example.com',
    data_fields: ['host', 'secret'],
    created_at: expect.stringMatching(/Z$/),
    started_at: expect.stringMatching(/Z$/),
    finished_at: expect.stringMatching(/Z$/),
  })
})

it('a retried job runs again with all its attempts, and the audit log records who retried it', async () => {
  const id = await failedJob('repository-housekeeping', { projectId: 7 }, 'it broke', 2)
  const { status, body } = await ask('jobManager', 'POST', `/repository-housekeeping/${id}/retry`)
  expect([status, body]).toMatchObject([
    200,
    { id, state: 'waiting', attempts_made: 0, failed_reason: null, finished_at: null },
  ])
  expect((await ask('admin', 'GET', '')).body).toEqual([])
  const connection = { path: harness.testRedis.path, maxRetriesPerRequest: null }
  const seen: unknown[] = []
  const worker = new Worker('repository-housekeeping', async (job) => seen.push(job.data), {
    connection,
    prefix: jobKeyPrefix,
  })
  worker.on('error', () => {})
  const stateOf = async () => (await ask('admin', 'GET', `/repository-housekeeping/${id}`)).body.state
  await expect.poll(stateOf).toBe('completed')
  await worker.close()
  expect(seen).toEqual([{ projectId: 7 }])
  const [event] = await events()
  expect(event).toMatchObject({
    eventName: 'job_retried',
    entityId: `repository-housekeeping/${id}`,
    details: { queue: 'repository-housekeeping', job_id: id, job_name: 'repository-housekeeping' },
    authorId: expect.any(Number),
    tokenId: expect.any(Number),
  })
})

it('a housekeeping job of a further storage is listed, retried and removed like others', async () => {
  const project = await createProject(harness.database, await createUser(harness.database))
  await harness.database.prisma.project.update({ where: { id: project.id }, data: { storage: 'second' } })
  const queue = 'repository-housekeeping-second'
  expect((await ask('admin', 'GET', `?queue=${queue}`)).body).toEqual([])
  const removed = await failedJob(queue, { projectId: 8 })
  expect((await ask('admin', 'DELETE', `/${queue}/${removed}`)).status).toBe(204)
  const id = await failedJob(queue, { projectId: 7 })
  const listed = [{ queue, id }]
  expect(await ask('admin', 'GET', `?queue=${queue}`)).toMatchObject({ status: 200, body: listed })
  expect(await ask('admin', 'GET', '')).toMatchObject({ status: 200, body: listed })
  expect(await ask('admin', 'POST', `/${queue}/${id}/retry`)).toMatchObject({
    status: 200,
    body: { queue, state: 'waiting' },
  })
  expect((await ask('admin', 'GET', `/repository-housekeeping-third/${id}`)).body.message).toBe(
    '404 Queue Not Found',
  )
  await harness.database.prisma.project.delete({ where: { id: project.id } })
})

it('a removed job no longer exists, and the audit log records who removed it', async () => {
  const id = await failedJob('saga-retention', {})
  expect((await ask('admin', 'DELETE', `/saga-retention/${id}`)).status).toBe(204)
  expect((await ask('admin', 'GET', `/saga-retention/${id}`)).status).toBe(404)
  expect(await queueOf('saga-retention').getFailedCount()).toBe(0)
  expect((await events())[0]).toMatchObject({ eventName: 'job_removed', entityId: `saga-retention/${id}` })
})

it('one of two parallel changes of a job succeeds and is in the audit log', async () => {
  const id = await failedJob('saga-retention', {})
  const before = (await events()).length
  const path = `/saga-retention/${id}/retry`
  const answers = await Promise.all([ask('admin', 'POST', path), ask('admin', 'POST', path)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect((await events()).length).toBe(before + 1)
})

it('a job that has not failed can be neither retried nor removed', async () => {
  const { id } = await queueOf('saga-retention').add('saga-retention', {})
  const before = await events()
  for (const [method, path] of [
    ['POST', `/saga-retention/${id}/retry`],
    ['DELETE', `/saga-retention/${id}`],
  ] as const) {
    expect(await ask('admin', method, path)).toMatchObject({
      status: 409,
      body: { message: 'The job is not failed' },
    })
  }
  expect((await ask('admin', 'GET', `/saga-retention/${id}`)).body.state).toBe('waiting')
  expect(await events()).toEqual(before)
})

it('missing queues and jobs, and queues of other applications, are not found', async () => {
  await (await harness.queue('mail')).add('send', {}, { jobId: 'one' })
  for (const [path, message] of [
    ['/saga-retention/404', '404 Job Not Found'],
    ['/saga-retention/meta', '404 Job Not Found'],
    ['/mail/one', '404 Queue Not Found'],
    ['/..%2Fmail/one', '404 Queue Not Found'],
  ]) {
    for (const [method, end] of [
      ['GET', ''],
      ['POST', '/retry'],
      ['DELETE', ''],
    ] as const) {
      const { status, body } = await ask('admin', method, path + end)
      expect([method, path, status, body.message]).toEqual([method, path, 404, message])
    }
  }
})

it.each([
  '?queue=mail',
  '?queue=repository-housekeeping-',
  '?state=active',
  '?page=0',
  '?page=11&per_page=100',
  '?page=x',
])('the parameters %s are refused', async (query) => {
  const { status, body } = await ask('admin', 'GET', query)
  expect([status, typeof body.error]).toEqual([400, 'string'])
})

it('administrators and tokens with the scope manage_jobs may change jobs; a read-only token only reads them', async () => {
  const id = await failedJob('saga-retention', {})
  const path = `/saga-retention/${id}`
  for (const [who, reading, changing] of [
    ['guest', 401, 401],
    ['unknown', 401, 401],
    ['user', 403, 403],
    ['scraper', 403, 403],
    ['sagaReader', 403, 403],
    ['adminPusher', 403, 403],
    ['adminReader', 200, 403],
  ] as const) {
    expect([who, (await ask(who, 'GET', '')).status]).toEqual([who, reading])
    expect([who, (await ask(who, 'GET', path)).status]).toEqual([who, reading])
    expect([who, (await ask(who, 'POST', `${path}/retry`)).status]).toEqual([who, changing])
    expect([who, (await ask(who, 'DELETE', path)).status]).toEqual([who, changing])
  }
  expect((await ask('jobManager', 'GET', '')).body).toHaveLength(1)
  expect((await ask('jobManager', 'DELETE', path)).status).toBe(204)
  expect((await harness.get('jobManager', '/jobqueue/job_stats')).status).toBe(403)
})

it('jobs are answered with 503 while Redis is unreachable, and recover automatically', async () => {
  const id = await failedJob('saga-retention', {})
  await harness.testRedis.kill()
  for (const [method, path] of [
    ['GET', ''],
    ['GET', `/saga-retention/${id}`],
    ['POST', `/saga-retention/${id}/retry`],
  ] as const) {
    await expect.poll(async () => (await ask('admin', method, path)).status).toBe(503)
  }
  await harness.testRedis.restart()
  await expect.poll(async () => (await ask('admin', 'GET', '')).status).toBe(200)
})
