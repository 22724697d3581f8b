import { getEventListeners } from 'node:events'
import {
  jobKeyPrefix,
  type QueueName,
  queueNames,
  repositoryHousekeepingJob,
} from '@switchyard/contracts/jobs'
import { createHeartbeat } from '@switchyard/jobs-heartbeat'
import { type ProcessInfo, registryKeys } from '@switchyard/jobs-heartbeat/registry'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createRedis } from '@switchyard/service-kit/redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type JobContext, jobType } from '../../src/job-type.js'
import { createJobMetrics } from '../../src/queues/job-metrics.js'
import { startWorkers } from '../../src/queues/workers.js'
import { silent, startHarness } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(() => harness.redis.flushall())

const keys = registryKeys(jobKeyPrefix)
const processes = () => harness.redis.zrange(keys.processes, '0', '-1')

describe('a worker process', () => {
  it('is in the registry with every field while it lives, and leaves it when it stops', async () => {
    const before = Date.now()
    const worker = await harness.startWorker({ WORKER_TAG: 'blue' })
    await expect.poll(processes).toHaveLength(1)
    const [id = ''] = await processes()
    const hash = await harness.redis.hgetall(keys.process(id))
    const info = JSON.parse(hash.info ?? '') as ProcessInfo
    expect(info).toMatchObject({ pid: process.pid, tag: 'blue', labels: [], identity: id })
    expect(info.queues.toSorted()).toEqual(Object.values(queueNames).toSorted())
    expect(id).toMatch(new RegExp(`^${info.hostname}:${process.pid}:[0-9a-f]{12}$`))
    expect(info.concurrency).toBeGreaterThanOrEqual(info.queues.length)
    expect(hash).toMatchObject({ concurrency: String(info.concurrency), quiet: 'false' })
    expect(Number(hash.rss)).toBeGreaterThan(1000)
    expect(Number(await harness.redis.zscore(keys.processes, id))).toBeGreaterThanOrEqual(before)
    expect(await harness.redis.ttl(keys.process(id))).toBeGreaterThan(50)
    expect((await harness.redis.smembers(keys.queues)).toSorted()).toEqual(info.queues.toSorted())

    await worker.close()
    expect(await processes()).toEqual([])
    expect(await harness.redis.exists(keys.process(id))).toBe(0)
  })

  it('removes processes without a beat for an hour', async () => {
    await harness.redis.zadd(keys.processes, Date.now() - 3_700_000, 'dead:1:x')
    const worker = await harness.startWorker()
    await expect.poll(processes).not.toContain('dead:1:x')
    await worker.close()
  })

  it('registers again, with its schedules, after Redis has lost everything', async () => {
    const worker = await harness.startWorker()
    await expect.poll(processes).toHaveLength(1)
    await harness.redis.flushall()
    await harness.testRedis.restart()
    await expect.poll(processes).toHaveLength(1)
    const queue = harness.queue('expired-token-cleanup')
    await expect.poll(() => queue.getJobSchedulersCount()).toBe(1)
    const job = await queue.add('expired-token-cleanup', {})
    await expect.poll(() => job.getState()).toBe('completed')
    await worker.close()
  })

  it('runs waiting jobs when Redis comes back from a crash', async () => {
    const worker = await harness.startWorker()
    await expect.poll(processes).toHaveLength(1)
    await harness.testRedis.kill()
    const probe = async () => (await fetch(`${worker.baseUrl}/-/readiness`)).status
    await expect.poll(probe).toBe(503)
    await harness.testRedis.restart()
    await expect.poll(probe).toBe(200)
    const job = await harness.queue('expired-token-cleanup').add('expired-token-cleanup', {})
    await expect.poll(() => job.getState()).toBe('completed')
    await worker.close()
  })
})

/** Starts workers for one job type of the test, with their counts in the registry. */
function startJob(
  queue: QueueName,
  run: (context: JobContext) => Promise<void>,
  { graceMs = 10_000, timeoutMs = 30_000 } = {},
) {
  const redis = createRedis({ url: harness.testRedis.urlOf('worker'), onError: () => {} })
  const { metrics } = createServiceContext('worker', 'silent')
  const types = [jobType({ queue, concurrency: 2, timeoutMs, run: (_payload, context) => run(context) })]
  const heartbeat = createHeartbeat({ redis })
  const workers = startWorkers({
    types,
    redisUrl: harness.testRedis.urlOf('worker'),
    logger: silent,
    metrics: createJobMetrics(metrics, [queue]),
    heartbeat,
    graceMs,
    redis,
    onCommandFailed: (error) => silent.warn({ err: error }),
  })
  return {
    busy: heartbeat.busy,
    /** Returns a metric by its name and labels as Prometheus reads them. */
    async metric(series: string) {
      const text = await metrics.registry.metrics()
      const line = text
        .split('\n')
        .find((each) => each.replace(/,?service="worker",?/, '').startsWith(series))
      return line === undefined ? null : Number(line.split(' ').at(-1))
    },
    async close() {
      await workers.close()
      await heartbeat.stop()
      redis.disconnect()
    },
  }
}

const totals = async () => [await harness.redis.get(keys.processed), await harness.redis.get(keys.failed)]

describe('jobs', () => {
  it('count every attempt as processed, and failed ones also as failed, also by day', async () => {
    let attempts = 0
    const worker = startJob('expired-token-cleanup', async () => {
      attempts += 1
      if (attempts < 3) throw new Error('not yet')
    })
    const queue = harness.queue('expired-token-cleanup')
    const job = await queue.add('expired-token-cleanup', {}, { attempts: 3, backoff: 1 })
    await expect.poll(() => job.getState()).toBe('completed')
    const outcome = (name: string) =>
      worker.metric(`worker_job_attempts_total{queue="expired-token-cleanup",outcome="${name}"}`)
    expect([await outcome('done'), await outcome('failed')]).toEqual([1, 2])
    expect(await worker.metric('worker_jobs_dead_total{queue="expired-token-cleanup"}')).toBe(0)
    await worker.close()
    expect(await totals()).toEqual(['3', '2'])
    const day = new Date().toISOString().slice(0, 10)
    expect(await harness.redis.get(keys.processedOn(day))).toBe('3')
    expect(await harness.redis.get(keys.failedOn(day))).toBe('2')
    expect(await harness.redis.ttl(keys.failedOn(day))).toBeGreaterThan(86_400 * 365 * 4)
  })

  it('fail when they exceed the time limit of their type, whether or not they react to the signal', async () => {
    const worker = startJob('expired-token-cleanup', () => new Promise(() => {}), { timeoutMs: 200 })
    const job = await harness.queue('expired-token-cleanup').add('expired-token-cleanup', {})
    await expect.poll(() => job.getState()).toBe('failed')
    expect(worker.busy()).toBe(0)
    await worker.close()
  })

  it('leave no timer in memory after their end', async () => {
    const signals: AbortSignal[] = []
    const worker = startJob('expired-token-cleanup', async ({ signal }) => {
      signals.push(signal)
    })
    const job = await harness.queue('expired-token-cleanup').add('expired-token-cleanup', {})
    await expect.poll(() => job.getState()).toBe('completed')
    expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0])
    await worker.close()
  })

  it('are kept and counted as dead when their last attempt has failed', async () => {
    const worker = startJob('expired-token-cleanup', async () => {
      throw new Error('never')
    })
    const queue = harness.queue('expired-token-cleanup')
    const job = await queue.add('expired-token-cleanup', {}, { attempts: 2, backoff: 1 })
    await expect.poll(() => job.getState()).toBe('failed')
    const dead = await queue.getJob(job.id ?? '')
    expect([dead?.attemptsMade, dead?.failedReason]).toEqual([2, 'never'])
    await expect.poll(() => worker.metric('worker_jobs_dead_total{queue="expired-token-cleanup"}')).toBe(1)
    const duration = 'worker_job_duration_seconds_count{queue="expired-token-cleanup"}'
    const wait = 'worker_job_wait_seconds_count{queue="expired-token-cleanup"}'
    expect([await worker.metric(duration), await worker.metric(wait)]).toEqual([2, 1])
    await worker.close()
  })

  it('that Redis refuses to deliver are logged with the reason', async () => {
    const warned = vi.spyOn(silent, 'warn')
    const worker = startJob('expired-token-cleanup', async () => {})
    const queue = harness.queue('expired-token-cleanup')
    await queue.add('expired-token-cleanup', {}, { delay: 100 })
    await harness.redis.config('SET', 'maxmemory', '1')
    await expect
      .poll(() => warned.mock.calls.map(([fields]) => String((fields as { err: Error }).err)))
      .toContainEqual(expect.stringMatching(/OOM command not allowed/))
    await harness.redis.config('SET', 'maxmemory', '0')
    warned.mockRestore()
    await worker.close()
  })

  it('do not delay a stop while Redis is unreachable, whether or not they are running', async () => {
    const worker = startJob('expired-token-cleanup', () => new Promise(() => {}))
    const idle = startJob('saga-event-partitions', async () => {})
    await harness.queue('expired-token-cleanup').add('expired-token-cleanup', {})
    await expect.poll(() => worker.busy()).toBe(1)
    await harness.testRedis.kill()
    const startedMs = performance.now()
    await Promise.all([worker.close(), idle.close()])
    expect(performance.now() - startedMs).toBeLessThan(2000)
    await harness.testRedis.restart()
  })

  it('are finished before the process stops, when they are fast enough', async () => {
    let finish = () => {}
    const worker = startJob(
      'expired-token-cleanup',
      () =>
        new Promise((resolve) => {
          finish = resolve
        }),
    )
    const job = await harness.queue('expired-token-cleanup').add('expired-token-cleanup', {})
    await expect.poll(() => worker.busy()).toBe(1)
    const closed = worker.close()
    finish()
    await closed
    expect(await job.getState()).toBe('completed')
    expect(await totals()).toEqual(['1', '0'])
  })

  it('return to their queue when the process must stop, without using up an attempt', async () => {
    const worker = startJob('expired-token-cleanup', () => new Promise(() => {}), { graceMs: 100 })
    const queue = harness.queue('expired-token-cleanup')
    const job = await queue.add('expired-token-cleanup', {}, { attempts: 1 })
    await expect.poll(() => worker.busy()).toBe(1)
    await worker.close()
    expect(await job.getState()).toBe('waiting')
    expect((await queue.getJob(job.id ?? ''))?.attemptsMade).toBe(0)
    expect(await totals()).toEqual(['0', '0'])

    const next = startJob('expired-token-cleanup', async () => {})
    await expect.poll(() => job.getState()).toBe('completed')
    await next.close()
  })

  it('of one project that arrive during a run cost one more run after it', async () => {
    let runs = 0
    const finishes: (() => void)[] = []
    const worker = startJob('repository-housekeeping', () => {
      runs += 1
      return new Promise((resolve) => {
        finishes.push(resolve)
      })
    })
    const queue = harness.queue('repository-housekeeping')
    const { name, data, options } = repositoryHousekeepingJob(7)
    const push = () => queue.add(name, data, { ...options, delay: 0 })
    await push()
    await expect.poll(() => runs).toBe(1)
    for (let pushes = 0; pushes < 5; pushes += 1) await push()
    finishes[0]?.()
    await expect.poll(() => runs).toBe(2)
    finishes[1]?.()
    await expect.poll(() => queue.getJobCountByTypes('wait', 'delayed', 'active')).toBe(0)
    expect(runs).toBe(2)
    await worker.close()
  })
})
