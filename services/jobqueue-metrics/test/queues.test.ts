import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import { Worker } from 'bullmq'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keys, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(() => harness.redis.flushall())

const agedMs = (seconds: number) => ({ timestamp: Date.now() - seconds * 1000 - 100 })

async function metricsOf(name: string) {
  const { queues } = await harness.metrics('/jobqueue/queue_metrics')
  return queues[name]
}

describe('the backlog and latency of a queue', () => {
  it('count waiting jobs, and the age of the oldest in whole seconds', async () => {
    const queue = await harness.queue('mail')
    expect(await metricsOf('mail')).toEqual({ backlog: 0, latency: 0 })
    for (const seconds of [90, 40, 3]) await queue.add('job', {}, agedMs(seconds))
    expect(await metricsOf('mail')).toEqual({ backlog: 3, latency: 90 })
  })

  it('are the same when the queue is paused', async () => {
    const queue = await harness.queue('mail')
    await queue.add('job', {}, agedMs(20))
    await queue.pause()
    await queue.add('job', {}, agedMs(10))
    expect(await metricsOf('mail')).toEqual({ backlog: 2, latency: 20 })
  })

  it('include prioritized jobs, whichever priority the oldest has', async () => {
    const queue = await harness.queue('mail')
    await queue.add('job', {}, { ...agedMs(5), priority: 1 })
    await queue.add('job', {}, { ...agedMs(70), priority: 9 })
    expect(await metricsOf('mail')).toEqual({ backlog: 2, latency: 70 })
  })

  it('include the oldest job of each of several priorities, and of the highest of very many', async () => {
    const queue = await harness.queue('mail')
    const ages = [10, 30, 20, 80, 40]
    for (const [index, seconds] of ages.entries())
      await queue.add('job', {}, { ...agedMs(seconds), priority: 1 + index * 2 })
    expect(await metricsOf('mail')).toEqual({ backlog: 5, latency: 80 })
    await queue.addBulk(
      Array.from({ length: 60 }, (_each, index) => ({
        name: 'job',
        data: {},
        opts: { ...agedMs(index === 59 ? 200 : 5), priority: 1000 + index * 3000 },
      })),
    )
    expect(await metricsOf('mail')).toEqual({ backlog: 65, latency: 200 })
  })

  it('follow a queue whose jobs change differently than before', async () => {
    const queue = await harness.queue('mail')
    await queue.add('job', {}, agedMs(30))
    expect(await metricsOf('mail')).toEqual({ backlog: 1, latency: 30 })
    await queue.drain()
    await queue.add('job', {}, { ...agedMs(50), priority: 2 })
    expect(await metricsOf('mail')).toEqual({ backlog: 1, latency: 50 })
    await queue.obliterate()
    expect(await metricsOf('mail')).toEqual({ backlog: 0, latency: 0 })
    await queue.add('job', {}, { ...agedMs(0), delay: 60_000 })
    expect(await metricsOf('mail')).toEqual({ backlog: 0, latency: 0 })
    expect(await harness.metrics('/jobqueue/job_stats')).toMatchObject({ jobs: { enqueued: 0 } })
  })

  it('include older jobs behind one that was put at the front', async () => {
    const queue = await harness.queue('mail')
    await queue.add('job', {}, agedMs(60))
    await queue.add('job', {}, { ...agedMs(1), lifo: true })
    expect(await metricsOf('mail')).toEqual({ backlog: 2, latency: 60 })
  })

  it('include older jobs behind one that a worker returned', async () => {
    const queue = await harness.queue('mail')
    await queue.add('job', {}, agedMs(60))
    await queue.add('job', {}, agedMs(40))
    const worker = new Worker('mail', null, {
      connection: { path: harness.testRedis.path },
      prefix: jobKeyPrefix,
    })
    const job = await worker.getNextJob('token')
    await job?.moveToWait('token')
    await worker.close()
    expect(await queue.getWaiting()).toMatchObject([{ id: '1' }, { id: '2' }])
    expect(await metricsOf('mail')).toEqual({ backlog: 2, latency: 40 })
  })

  it('exclude jobs for later, which count as scheduled', async () => {
    const queue = await harness.queue('mail')
    await queue.add('job', {}, { ...agedMs(500), delay: 3_600_000 })
    const { queues, jobs } = await harness.metrics()
    expect(queues.mail).toEqual({ backlog: 0, latency: 0 })
    expect(jobs).toMatchObject({ enqueued: 0, scheduled: 1 })
  })

  it('include overdue delayed jobs, by the time since which they have been due', async () => {
    const queue = await harness.queue('mail')
    await queue.add('job', {}, { ...agedMs(100), delay: 70_000 })
    const { queues, jobs } = await harness.metrics()
    expect(queues.mail).toEqual({ backlog: 1, latency: 30 })
    expect(jobs).toMatchObject({ enqueued: 1, scheduled: 0 })
  })

  it("use the end of a job's delay as the start of its age, not its creation", async () => {
    const queue = await harness.queue('mail')
    const job = await queue.add('job', {}, { ...agedMs(3615), delay: 3_600_000 })
    await job.promote()
    expect(await metricsOf('mail')).toEqual({ backlog: 1, latency: 15 })
  })

  it('skip a job whose hash no longer exists', async () => {
    const queue = await harness.queue('mail')
    const job = await queue.add('job', {}, agedMs(50))
    await queue.add('job', {}, agedMs(8))
    await harness.redis.del(`${jobKeyPrefix}:mail:${job.id}`)
    expect(await metricsOf('mail')).toEqual({ backlog: 2, latency: 8 })
  })

  it('exclude active, completed and dead jobs', async () => {
    const queue = await harness.queue('mail')
    for (const name of ['good', 'bad', 'slow']) await queue.add(name, {}, agedMs(30))
    let release = () => {}
    const slow = new Promise<void>((resolve) => {
      release = resolve
    })
    const worker = new Worker(
      'mail',
      async ({ name }) => {
        if (name === 'bad') throw new Error('bad')
        if (name === 'slow') await slow
      },
      { connection: { path: harness.testRedis.path }, prefix: jobKeyPrefix },
    )
    await expect
      .poll(() => queue.getJobCounts('active', 'completed', 'failed'))
      .toEqual({
        active: 1,
        completed: 1,
        failed: 1,
      })
    const { queues, jobs } = await harness.metrics()
    expect(queues.mail).toEqual({ backlog: 0, latency: 0 })
    expect(jobs.dead).toBe(1)
    release()
    await worker.close()
  })
})

it('every registered queue is listed by name, even without a key, and the backlogs are summed', async () => {
  for (const name of ['zebra', 'alpha', 'hashed_storage:migrate']) await harness.redis.sadd(keys.queues, name)
  const first = await harness.queue('zebra')
  const second = await harness.queue('middle')
  await first.add('job', {})
  await second.add('job', {})
  await second.add('job', {})
  const { queues, jobs } = await harness.metrics()
  expect(Object.keys(queues)).toEqual(['alpha', 'hashed_storage:migrate', 'middle', 'zebra'])
  expect(jobs.enqueued).toBe(3)
})

it('both paths have the same answer, with an ETag', async () => {
  const queue = await harness.queue('mail')
  await queue.add('job', {}, agedMs(1000))
  const ours = await harness.get('admin', '/jobqueue/job_stats')
  const theirs = await harness.get('admin', '/sidekiq/job_stats')
  expect(await theirs.json()).toEqual(await ours.json())
  const headers = { 'If-None-Match': ours.headers.get('ETag') ?? '' }
  expect((await harness.get('admin', '/jobqueue/job_stats', { headers })).status).toBe(304)
})

it('metrics are read with plain commands that neither write nor search', async () => {
  for (let index = 0; index < 20; index += 1) {
    const queue = await harness.queue(`queue-${index}`)
    await queue.add('job', {}, { priority: 3 })
    await queue.add('job', {}, { delay: 1000 })
  }
  await harness.redis.call('CONFIG', 'RESETSTAT')
  await harness.metrics()
  const stats = await harness.redis.info('commandstats')
  const commands = [...stats.matchAll(/cmdstat_([\w|]+):/g)].map(([, name]) => name)
  const mayRun = [
    'exists',
    'get',
    'hget',
    'hgetall',
    'hmget',
    'llen',
    'lrange',
    'smembers',
    'zcard',
    'zcount',
  ]
  mayRun.push('zrange', 'zrangebyscore')
  // The commands of the test itself, and of BullMQ's queues above, which may still be connecting.
  const ofTheTest = ['config|resetstat', 'info', 'ping', 'client|setinfo', 'client|setname']
  expect(commands.filter((name) => ![...mayRun, ...ofTheTest].includes(name ?? ''))).toEqual([])
  expect(commands).toContain('llen')
})
