import { hostname } from 'node:os'
import { startTestRedis, type TestRedis } from '@switchyard/testing'
import * as bullmq6 from 'bullmq'
import * as bullmq5 from 'bullmq5'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHeartbeat, type Heartbeat } from '../src/index.js'
import { registryKeys } from '../src/registry.js'

let testRedis: TestRedis
let redis: Redis
beforeEach(async () => {
  testRedis = await startTestRedis()
  redis = new Redis({ path: testRedis.path, maxRetriesPerRequest: null })
  redis.on('error', () => {})
})
afterEach(async () => {
  redis.disconnect()
  await testRedis.stop()
})

const keys = registryKeys('bull')
const processes = () => redis.zrange(keys.processes, '0', '-1')
const totals = () => redis.mget(keys.processed, keys.failed)

async function shown() {
  const [id = ''] = await processes()
  const hash = await redis.hgetall(keys.process(id))
  return { ...JSON.parse(hash.info ?? '{}'), busy: hash.busy, quiet: hash.quiet }
}

/** Both versions have the same classes, as far as these tests use them. */
const versions = { 'BullMQ 6': bullmq6, 'BullMQ 5': bullmq5 as unknown as typeof bullmq6 }

describe.each(Object.entries(versions))('a worker of %s', (_name, { Queue, Worker, ...errors }) => {
  const connection = () => ({ path: testRedis.path, maxRetriesPerRequest: null })

  async function queueOf(name: string, prefix?: string) {
    const queue = new Queue(name, { connection: connection(), prefix })
    queue.on('error', () => {})
    return queue
  }

  function workerOf(
    heartbeat: Heartbeat,
    name: string,
    run: (job: bullmq6.Job, token?: string, signal?: AbortSignal) => Promise<unknown>,
    concurrency = 1,
  ) {
    const worker = new Worker(name, heartbeat.count(run), { connection: connection(), concurrency })
    worker.on('error', () => {})
    return worker
  }

  it('appears with all eight fields by two lines of code, and disappears when it is closed', async () => {
    const heartbeat = createHeartbeat()
    const worker = workerOf(heartbeat, 'mail', async () => {}, 3)
    heartbeat.start(worker)
    await expect.poll(processes).toHaveLength(1)
    const { started_at: startedAt, identity, ...rest } = await shown()
    expect(rest).toEqual({
      hostname: hostname(),
      pid: process.pid,
      tag: '',
      queues: ['mail'],
      labels: [],
      concurrency: 3,
      busy: '0',
      quiet: 'false',
    })
    expect(Math.abs(startedAt * 1000 - (Date.now() - process.uptime() * 1000))).toBeLessThan(1000)
    expect(await redis.ttl(keys.process(identity))).toBeGreaterThan(50)
    expect(await redis.smembers(keys.queues)).toEqual(['mail'])
    await worker.close()
    await heartbeat.stop()
    expect([await processes(), await redis.exists(keys.process(identity))]).toEqual([[], 0])
  })

  it('counts attempts that succeed, fail and return their job, by queue', async () => {
    const queue = await queueOf('mail')
    let left = 0
    /** The class as a bundler may rename it. */
    class DelayedError2 extends errors.DelayedError {}
    const heartbeat = createHeartbeat()
    const worker = workerOf(heartbeat, 'mail', async (job) => {
      if (job.name === 'bad') throw new Error('bad')
      if (job.name === 'later' && job.attemptsStarted === 1) {
        await job.moveToDelayed(Date.now() + 10, job.token)
        throw new errors.DelayedError()
      }
      if (job.name === 'bundled' && job.attemptsStarted === 1) {
        await job.moveToDelayed(Date.now() + 10, job.token)
        throw new DelayedError2('not now')
      }
      left -= 1
    })
    heartbeat.start(worker)
    for (const name of ['good', 'bad', 'later', 'bundled'])
      await queue.add(name, {}, { attempts: 2, backoff: 1 })
    left += 3
    await expect.poll(() => queue.getJobCounts('completed', 'failed')).toEqual({ completed: 3, failed: 1 })
    expect(left).toBe(0)
    await worker.close()
    await heartbeat.stop()
    expect(await totals()).toEqual(['5', '2'])
    expect(await redis.hgetall(keys.processedByQueue)).toEqual({ mail: '5' })
    expect(await redis.hgetall(keys.failedByQueue)).toEqual({ mail: '2' })
    await queue.close()
  })

  it('reports its running jobs, and that it accepts no more, while it closes', async () => {
    const queue = await queueOf('mail')
    let finish = () => {}
    const work = new Promise<void>((resolve) => {
      finish = resolve
    })
    const heartbeat = createHeartbeat()
    const worker = workerOf(heartbeat, 'mail', () => work)
    heartbeat.start(worker)
    await queue.add('slow', {})
    await expect.poll(() => heartbeat.busy()).toBe(1)
    const closed = worker.close()
    await expect.poll(shown).toMatchObject({ busy: '1', quiet: 'true' })
    finish()
    await closed
    await heartbeat.stop()
    expect(await totals()).toEqual(['1', '0'])
    await queue.close()
  })

  it('passes on the token and the signal of an attempt, so that a job can be cancelled', async () => {
    const queue = await queueOf('mail')
    const heartbeat = createHeartbeat()
    const tokens: unknown[] = []
    const worker = workerOf(heartbeat, 'mail', async (_job, token, signal) => {
      tokens.push(token)
      await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('cancelled')))
      })
    })
    heartbeat.start(worker)
    const job = await queue.add('endless', {})
    await expect.poll(() => heartbeat.busy()).toBe(1)
    expect(worker.cancelJob(String(job.id))).toBe(true)
    await expect.poll(() => queue.getFailedCount()).toBe(1)
    expect([tokens.length, typeof tokens[0], heartbeat.busy()]).toEqual([1, 'string', 0])
    await worker.close()
    await heartbeat.stop()
    expect(await totals()).toEqual(['1', '1'])
    await queue.close()
  })

  it('shares one entry with the other workers of its process, until the last of them has closed', async () => {
    const heartbeat = createHeartbeat({ tag: 'blue', labels: ['eu'] })
    const workers = [
      workerOf(heartbeat, 'mail', async () => {}, 2),
      workerOf(heartbeat, 'reports', async () => {}, 5),
    ]
    heartbeat.start(workers)
    await expect.poll(processes).toHaveLength(1)
    expect(await shown()).toMatchObject({
      queues: ['mail', 'reports'],
      concurrency: 7,
      tag: 'blue',
      labels: ['eu'],
    })
    await workers[0]?.close()
    expect(await processes()).toHaveLength(1)
    await workers[1]?.close()
    // The test has not called `stop`.
    await expect.poll(processes).toEqual([])
  })

  it('keeps its counts while Redis is unreachable, and reappears as soon as Redis is back', async () => {
    const errors: unknown[] = []
    const queue = await queueOf('mail')
    const heartbeat = createHeartbeat({ onError: (error) => errors.push(error) })
    const worker = workerOf(heartbeat, 'mail', async () => {})
    heartbeat.start(worker)
    await expect.poll(processes).toHaveLength(1)
    await queue.add('one', {})
    await expect.poll(() => queue.getCompletedCount()).toBe(1)
    await testRedis.kill()
    await expect.poll(() => errors.length).toBeGreaterThan(0)
    await testRedis.restart()
    await redis.del(keys.processes)
    await expect.poll(processes).toHaveLength(1)
    await expect.poll(totals).toEqual(['1', '0'])
    await worker.close()
    await queue.close()
  })

  it('closes within two seconds while Redis is unreachable', async () => {
    const heartbeat = createHeartbeat()
    const worker = workerOf(heartbeat, 'mail', async () => {})
    heartbeat.start(worker)
    await expect.poll(processes).toHaveLength(1)
    await testRedis.kill()
    const startedMs = performance.now()
    await worker.close(true)
    await heartbeat.stop()
    expect(performance.now() - startedMs).toBeLessThan(2000)
  })
})

it('is refused for workers of several prefixes, for none, and a second time', async () => {
  const opts = { connection: { path: testRedis.path, maxRetriesPerRequest: null } }
  const one = new bullmq6.Worker('a', async () => {}, { ...opts, prefix: 'x' })
  const other = new bullmq6.Worker('b', async () => {}, { ...opts, prefix: 'y' })
  const heartbeat = createHeartbeat()
  expect(() => heartbeat.start([one, other])).toThrow('several prefixes')
  expect(() => heartbeat.start([])).toThrow('needs a worker')
  heartbeat.start(one)
  expect(() => heartbeat.start(other)).toThrow('start it once, with all workers')
  await heartbeat.stop()
  await Promise.all([one, other].map((worker) => worker.close()))
})
