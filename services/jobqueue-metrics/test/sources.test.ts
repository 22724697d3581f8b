import { startTestRedis, type TestRedis } from '@switchyard/testing'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { configSchema } from '../src/config.js'
import { startHarness } from './harness.js'
import { loadSidekiqDump } from './support/load-dump.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let otherRedis: TestRedis
let other: Redis
let queue: Queue
beforeAll(async () => {
  otherRedis = await startTestRedis()
  other = new Redis({ path: otherRedis.path, maxRetriesPerRequest: null })
  other.on('error', () => {})
  harness = await startHarness(() => ({
    JOBQUEUE_SOURCES: JSON.stringify([
      { name: 'mails', kind: 'bullmq', queues: ['critical', 'mail'] },
      { name: 'rails', kind: 'sidekiq', url: otherRedis.url },
    ]),
  }))
  await loadSidekiqDump(other, '7.3.9')
  queue = new Queue('critical', { connection: { path: harness.testRedis.path } })
  await queue.add('job', {}, { timestamp: Date.now() - 5100 })
})
afterAll(async () => {
  await queue.close()
  await harness.close()
  other.disconnect()
  await otherRedis.stop()
})

const compound = (query = '') => harness.metrics(`/jobqueue/compound_metrics${query}`)

it('several sources are merged: backlogs and totals add up, the longest latency counts, processes are listed together', async () => {
  const { queues, processes, jobs } = await compound()
  expect(Object.keys(queues)).toEqual(['critical', 'default', 'mail', 'single', 'unserved'])
  expect(queues.critical?.backlog).toBe(1)
  expect(queues.critical?.latency).toBeGreaterThanOrEqual(5)
  expect(queues.critical?.latency).toBeLessThan(60)
  expect(queues.unserved?.backlog).toBe(3)
  expect(processes.map(({ pid }) => pid)).toEqual([17015])
  expect(jobs).toEqual({ processed: 8, failed: 3, enqueued: 4, scheduled: 1, retry: 1, dead: 1 })
})

it('one source is answered on request', async () => {
  const mails = await compound('?source=mails')
  expect(mails.queues).toEqual({
    critical: { backlog: 1, latency: expect.any(Number) },
    mail: expect.anything(),
  })
  expect([mails.processes, mails.jobs.enqueued]).toEqual([[], 1])
  const rails = await compound('?source=rails')
  expect([Object.keys(rails.queues).length, rails.jobs.enqueued]).toEqual([4, 3])
  for (const path of ['compound_metrics', 'stream', 'history']) {
    const unknown = await harness.get('admin', `/jobqueue/${path}?source=other`)
    expect([unknown.status, await unknown.json()]).toMatchObject([
      400,
      { error: 'source does not have a valid value' },
    ])
  }
})

it('extended fields are added only on request, after the fields of the contract', async () => {
  const { queues, processes, jobs } = await compound('?extended=true')
  expect(queues.unserved).toEqual({
    backlog: 3,
    latency: expect.any(Number),
    paused: false,
    busy: null,
    processed: null,
    failed: null,
  })
  expect(Object.keys(processes[0] ?? {})).toEqual([
    'hostname',
    'pid',
    'tag',
    'started_at',
    'queues',
    'labels',
    'concurrency',
    'busy',
    'identity',
    'quiet',
    'heartbeat_age',
    'rss',
  ])
  expect(processes[0]).toMatchObject({ identity: 'vm:17015:1458ed970f45', quiet: false, rss: 27532 * 1024 })
  expect(jobs).toMatchObject({ approximate: false })
  expect(Object.keys((await compound()).processes[0] ?? {})).toHaveLength(8)
  expect((await harness.get('admin', '/jobqueue/job_stats?extended=maybe')).status).toBe(400)
})

it('metrics come with their age', async () => {
  const response = await harness.get('scraper', '/sidekiq/compound_metrics')
  const ageMs = Number(response.headers.get('X-Snapshot-Age-Ms'))
  expect(ageMs).toBeGreaterThanOrEqual(0)
  expect(ageMs).toBeLessThan(2000)
})

it('a source that does not answer is named, and the others are still answered', async () => {
  await otherRedis.kill()
  const status = async () => (await harness.get('admin', '/jobqueue/job_stats')).status
  await expect.poll(status).toBe(503)
  const failed = await harness.get('admin', '/jobqueue/job_stats')
  expect(await failed.json()).toMatchObject({
    message: '503 Service Unavailable - the job queue source rails does not answer',
  })
  expect((await compound('?source=mails')).jobs.enqueued).toBe(1)
  const scrape = await (await fetch(`${harness.baseUrl}/metrics`)).text()
  expect(scrape).toMatch(/jobqueue_source_up\{.*source="rails".*\} 0/)
  expect(scrape).toMatch(/jobqueue_source_up\{.*source="mails".*\} 1/)
  expect(scrape).toMatch(/jobqueue_queue_backlog\{.*source="mails",queue="critical".*\} 1/)
  expect(scrape).not.toMatch(/jobqueue_queue_backlog\{.*source="rails"/)
  expect(scrape).toMatch(/jobqueue_snapshot_failures_total\{.*source="rails".*\} [1-9]/)
  await otherRedis.restart()
  await expect.poll(status).toBe(200)
})

it('invalid sources are refused with every problem and without a secret', () => {
  const problemsOf = (sources: unknown) => {
    const text = typeof sources === 'string' ? sources : JSON.stringify(sources)
    const parsed = configSchema.shape.JOBQUEUE_SOURCES.safeParse(text)
    return parsed.success ? '' : parsed.error.issues.map(({ message }) => message).join()
  }
  const list = 'must be a JSON list of sources: '
  expect(problemsOf('nonsense')).toBe(`${list}this is no JSON`)
  expect(problemsOf([])).toContain(list)
  expect(problemsOf([{ name: 'a', kind: 'resque' }])).toContain('0 kind kind must be bullmq or sidekiq')
  expect(problemsOf([{ name: 'a b', kind: 'sidekiq', url: 'http://me:hunter2@x' }])).toBe(
    `${list}0 name must be 1 to 64 letters, digits, dots, dashes or underscores; 0 url must be redis://, rediss:// or unix://`,
  )
  expect(problemsOf([{ name: 'a', kind: 'sidekiq', prefix: 'x' }])).toContain('Unrecognized key: "prefix"')
  const twice = { name: 'a', kind: 'sidekiq' }
  expect(problemsOf([twice, twice])).toContain('names must differ')
  const listed = { cluster: ['a:1'], sentinel: { master: 'm', nodes: ['b:2'] } }
  expect(problemsOf([{ ...twice, ...listed }])).toContain('must have cluster or sentinel, not both')
  expect(problemsOf([{ ...twice, cluster: ['here'] }])).toContain('0 cluster 0 must be host:port')
  expect(problemsOf([{ name: 'a', kind: 'bullmq', queues: ['a:b'] }])).toContain(
    '0 queues 0 must be names without a colon',
  )
  expect(problemsOf([twice])).toBe('')
})
