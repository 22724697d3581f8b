import { hostname } from 'node:os'
import { startTestRedis, type TestRedis } from '@switchyard/testing'
import * as bullmq6 from 'bullmq'
import * as bullmq5 from 'bullmq5'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startHeartbeat } from '../src/index.js'
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

  function workerOf(name: string, run: (job: bullmq6.Job) => Promise<unknown>, concurrency = 1) {
    const worker = new Worker(name, run, { connection: connection(), concurrency })
    worker.on('error', () => {})
    return worker
  }

  it('shows up with all eight fields by one line, and leaves when it is closed', async () => {
    const worker = workerOf('mail', async () => {}, 3)
    startHeartbeat(worker)
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
    expect([await processes(), await redis.exists(keys.process(identity))]).toEqual([[], 0])
  })

  it('counts attempts that end well, badly, and not at all, by queue', async () => {
    const queue = await queueOf('mail')
    let left = 0
    /** The class as a bundler may leave it. */
    class DelayedError2 extends errors.DelayedError {}
    const worker = workerOf('mail', async (job) => {
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
    startHeartbeat(worker)
    for (const name of ['good', 'bad', 'later', 'bundled'])
      await queue.add(name, {}, { attempts: 2, backoff: 1 })
    left += 3
    await expect.poll(() => queue.getJobCounts('completed', 'failed')).toEqual({ completed: 3, failed: 1 })
    expect(left).toBe(0)
    await worker.close()
    expect(await totals()).toEqual(['5', '2'])
    expect(await redis.hgetall(keys.processedByQueue)).toEqual({ mail: '5' })
    expect(await redis.hgetall(keys.failedByQueue)).toEqual({ mail: '2' })
    await queue.close()
  })

  it('says what it is busy with, and that it takes no more, while it closes', async () => {
    const queue = await queueOf('mail')
    let finish = () => {}
    const work = new Promise<void>((resolve) => {
      finish = resolve
    })
    const worker = workerOf('mail', () => work)
    const heartbeat = startHeartbeat(worker)
    await queue.add('slow', {})
    await expect.poll(() => heartbeat.busy()).toBe(1)
    const closed = worker.close()
    await expect.poll(shown).toMatchObject({ busy: '1', quiet: 'true' })
    finish()
    await closed
    expect(await totals()).toEqual(['1', '0'])
    await queue.close()
  })

  it('shares one entry with the other workers of its process, until the last of them has closed', async () => {
    const workers = [workerOf('mail', async () => {}, 2), workerOf('reports', async () => {}, 5)]
    startHeartbeat(workers, { tag: 'blue', labels: ['eu'] })
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
    expect(await processes()).toEqual([])
  })

  it('keeps its counts while Redis is away, and is there again as soon as it is back', async () => {
    const errors: unknown[] = []
    const queue = await queueOf('mail')
    const worker = workerOf('mail', async () => {})
    startHeartbeat(worker, { onError: (error) => errors.push(error) })
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

  it('closes within two seconds while Redis is away', async () => {
    const worker = workerOf('mail', async () => {})
    startHeartbeat(worker)
    await expect.poll(processes).toHaveLength(1)
    await testRedis.kill()
    const startedMs = performance.now()
    await worker.close(true)
    expect(performance.now() - startedMs).toBeLessThan(2000)
  })
})

it('is refused for workers of several prefixes, and for one without a processor', async () => {
  const opts = { connection: { path: testRedis.path, maxRetriesPerRequest: null } }
  const one = new bullmq6.Worker('a', async () => {}, { ...opts, prefix: 'x' })
  const other = new bullmq6.Worker('b', async () => {}, { ...opts, prefix: 'y' })
  const idle = new bullmq6.Worker('c', null, opts)
  expect(() => startHeartbeat([one, other])).toThrow('several prefixes')
  expect(() => startHeartbeat(idle)).toThrow('no processor')
  expect(() => startHeartbeat([])).toThrow('needs a worker')
  await Promise.all([one, other, idle].map((worker) => worker.close()))
})
