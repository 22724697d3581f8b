import { hostname } from 'node:os'
import { queueNames } from '@switchyard/contracts/jobs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { keys, type Metrics, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(() => harness.redis.flushall())

const processes = async () => (await harness.metrics('/jobqueue/process_metrics')).processes

it('a real worker is shown with the eight fields in order and its totals, until it stops', async () => {
  const worker = await harness.startWorker()
  await expect.poll(processes).toHaveLength(1)
  const [shown] = await processes()
  expect(Object.keys(shown ?? {})).toEqual([
    'hostname',
    'pid',
    'tag',
    'started_at',
    'queues',
    'labels',
    'concurrency',
    'busy',
  ])
  expect(shown).toMatchObject({ hostname: hostname(), pid: worker.pid, tag: 'test', labels: [] })
  expect(shown?.concurrency).toBeGreaterThanOrEqual(shown?.queues.length ?? 0)
  expect(shown?.queues.toSorted()).toEqual(Object.values(queueNames).toSorted())
  expect(Math.abs(Date.now() - Date.parse(shown?.started_at ?? ''))).toBeLessThan(30_000)
  expect(shown?.started_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

  // After a beat, the totals include one successful and one failed job of this test, beside the scheduled
  // ones.
  const name = 'repository-housekeeping'
  const queue = await harness.queue(name)
  await queue.add(name, { projectId: 1 })
  await queue.add(name, { projectId: -1 })
  const extended = () => harness.metrics('/jobqueue/compound_metrics?extended=true')
  await expect
    .poll(async () => (await extended()).queues[name])
    .toMatchObject({ backlog: 0, busy: 0, processed: 2, failed: 1 })
  const { jobs, queues } = await extended()
  expect(jobs).toMatchObject({ dead: 1, failed: 1 })
  expect(jobs.processed).toBeGreaterThanOrEqual(3)
  expect(jobs.scheduled).toBeGreaterThanOrEqual(2)
  expect(Object.keys(queues)).toEqual(Object.values(queueNames).sort())

  await worker.stop()
  expect(await processes()).toEqual([])
  expect(Object.keys((await harness.metrics()).queues)).toEqual(Object.values(queueNames).sort())
})

it('a killed worker is shown as long as its last beat is recent, and not afterwards', async () => {
  const worker = await harness.startWorker()
  await expect.poll(processes).toHaveLength(1)
  await worker.stop('SIGKILL')
  expect(await processes()).toHaveLength(1)
  const [id = ''] = await harness.redis.zrange(keys.processes, '0', '-1')
  await harness.redis.zadd(keys.processes, Date.now() - 61_000, id)
  expect(await processes()).toEqual([])
})

it.each([
  ['behind', -120_000],
  ['ahead', 120_000],
])(
  'shows a worker whose clock is two minutes %s, and the right age of its beat',
  async (_name, clockAheadMs) => {
    const worker = await harness.startWorker({ clockAheadMs })
    const extended = async () => (await harness.metrics('/jobqueue/process_metrics?extended=true')).processes
    await expect.poll(extended).toMatchObject([{ pid: worker.pid }])
    const [shown] = (await extended()) as { heartbeat_age?: number }[]
    expect(shown?.heartbeat_age).toBeLessThan(30)
    await worker.stop()
  },
)

describe('with a wrong clock of the worker', () => {
  afterEach(() => vi.useRealTimers())

  it.each([
    ['behind', -120_000],
    ['ahead', 120_000],
  ])(
    'the service (two minutes %s) shows running workers, and ages by the clock of Redis',
    async (_name, aheadMs) => {
      const worker = await harness.startWorker()
      await expect.poll(processes).toHaveLength(1)
      const queue = await harness.queue('mail')
      await queue.add('job', {}, { timestamp: Date.now() - 30_500 })
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs })
      const { processes: shown, queues } = (await harness.metrics(
        '/jobqueue/compound_metrics?extended=true',
      )) as Metrics & { processes: { heartbeat_age?: number }[] }
      vi.useRealTimers()
      expect(shown).toMatchObject([{ pid: worker.pid }])
      expect(shown[0]?.heartbeat_age).toBeLessThan(30)
      const latency = queues.mail?.latency ?? 0
      expect([latency >= 30, latency < 60]).toEqual([true, true])
      await worker.stop()
    },
  )
})

it('the age of a beat by a wrong clock is unknown', async () => {
  const info = { hostname: 'h', pid: 7, tag: '', started_at: 1, queues: [], labels: [], concurrency: 1 }
  await harness.redis.zadd(keys.processes, Date.now(), 'h:7:a')
  await harness.redis.hset(keys.process('h:7:a'), {
    info: JSON.stringify(info),
    beat: String(Date.now() / 1000 - 120),
  })
  expect((await harness.metrics('/jobqueue/process_metrics?extended=true')).processes).toMatchObject([
    { pid: 7, heartbeat_age: null },
  ])
  expect(await (await fetch(`${harness.baseUrl}/metrics`)).text()).not.toMatch(
    /^jobqueue_(heartbeat_age_seconds_max|resident_memory_bytes)\{/m,
  )
})

it('members without a hash, and unreadable hashes, are skipped', async () => {
  for (const id of ['ghost:1:a', 'broken:2:b', 'other:3:c']) {
    await harness.redis.zadd(keys.processes, Date.now(), id)
  }
  await harness.redis.hset(keys.process('broken:2:b'), { info: '{"hostname":', busy: '1' })
  await harness.redis.hset(keys.process('other:3:c'), { info: '{"pid":"three"}' })
  expect(await processes()).toEqual([])
})
