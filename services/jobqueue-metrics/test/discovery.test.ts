import { setTimeout as delay } from 'node:timers/promises'
import { startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import * as bullmq6 from 'bullmq'
import * as bullmq5 from 'bullmq5'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startHarness } from './harness.js'
import { openSource } from './support/open-source.js'

const versions = { 'BullMQ 6': bullmq6, 'BullMQ 5': bullmq5 as unknown as typeof bullmq6 }

describe.each(Object.entries(versions))('a Redis with plain workers of %s', (_name, { Queue, Worker }) => {
  it('shows queues, jobs and workers in the first answer of a service that is configured only with its address', async () => {
    const testRedis = await startTestRedis()
    const connection = { path: testRedis.path, maxRetriesPerRequest: null }
    const queues = ['mail', 'reports', 'über uns'].map((name) => new Queue(name, { connection }))
    for (const queue of queues) await queue.addBulk([1, 2].map((n) => ({ name: 'job', data: { n } })))
    // One queue has a worker, the other two have only their keys.
    const worker = new Worker('mail', async () => {}, { connection, name: 'mailer' })
    await expect.poll(() => queues[0]?.getCompletedCount()).toBe(2)

    const sources = [{ name: 'theirs', kind: 'bullmq', url: testRedis.url }]
    const harness = await startHarness(() => ({ JOBQUEUE_SOURCES: JSON.stringify(sources) }))
    const { queues: shown, processes } = await harness.metrics()
    expect(Object.entries(shown).map(([name, { backlog }]) => [name, backlog])).toEqual([
      ['mail', 0],
      ['reports', 2],
      ['über uns', 2],
    ])
    expect(processes).toMatchObject([{ tag: 'mailer', queues: ['mail'] }])
    await worker.close()
    await Promise.all(queues.map((queue) => queue.close()))
    await harness.close()
    await testRedis.stop()
  })
})

describe('the search for queues', () => {
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

  const namesOf = async (source: ReturnType<typeof openSource>) =>
    (await source.read()).queues.map(({ name }) => name)

  it('scans many keys in bounded steps with pauses, while requests are answered', async () => {
    await redis.eval("for i = 1, 60000 do redis.call('SET', 'other:' .. i, '1') end", 0)
    for (const name of ['a', 'b']) await redis.hset(`bull:${name}:meta`, 'opts.maxLenEvents', '10000')
    await redis.call('CONFIG', 'RESETSTAT')
    const source = openSource({ kind: 'bullmq' }, testRedis.url)
    await expect.poll(() => namesOf(source).catch(() => [])).toEqual(['a', 'b'])
    source.close()
    const calls = Number(/cmdstat_scan:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1])
    expect(calls).toBeGreaterThanOrEqual(60)
    expect(calls).toBeLessThan(70)
  })

  it('finds only queues of its prefix, whatever characters the prefix has', async () => {
    for (const key of ['a*b:mine:meta', 'axb:theirs:meta', 'a*b:with:colon:meta', 'a*b::meta', 'a*b:job:7'])
      await redis.hset(key, 'field', '1')
    const source = openSource({ kind: 'bullmq', prefix: 'a*b' }, testRedis.url)
    await expect.poll(() => namesOf(source).catch(() => [])).toEqual(['mine'])
    source.close()
  })

  it('has found the queues in the first answer after Redis was down when the service started', async () => {
    await redis.hset('bull:late:meta', 'field', '1')
    await testRedis.kill()
    const source = openSource({ kind: 'bullmq' }, testRedis.url)
    // Waits long enough for the retry delay to grow.
    for (const untilMs = performance.now() + 4000; performance.now() < untilMs; await delay(100))
      await expect(namesOf(source)).rejects.toThrow()
    await testRedis.restart()
    const restartedMs = performance.now()
    expect(await waitFor(() => namesOf(source), { what: 'the first answer' })).toEqual(['late'])
    expect(performance.now() - restartedMs).toBeLessThan(6000)
    source.close()
  })

  it('delays the first metrics, even zeros, until it has ended', async () => {
    await redis.eval("for i = 1, 120000 do redis.call('SET', 'other:' .. i, '1') end", 0)
    await redis.hset('bull:slow:meta', 'field', '1')
    const harness = await startHarness(() => ({
      JOBQUEUE_SOURCES: JSON.stringify([{ name: 'theirs', kind: 'bullmq', url: testRedis.url }]),
    }))
    const early = await harness.get('admin', '/jobqueue/queue_metrics')
    expect([early.status, await early.json()]).toMatchObject([
      503,
      {
        message:
          '503 Service Unavailable - the job queue source theirs does not answer: the first search for its queues has not ended',
      },
    ])
    expect(await (await fetch(`${harness.baseUrl}/metrics`)).text()).toMatch(/^jobqueue_source_up\{.*\} 0$/m)
    const status = async () => (await harness.get('admin', '/jobqueue/queue_metrics')).status
    await expect.poll(status).toBe(200)
    expect(Object.keys((await harness.metrics()).queues)).toEqual(['slow'])
    await harness.close()
  })
})
