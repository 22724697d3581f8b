import { broadcastBoundaryJob, broadcastChannel, queueNames } from '@switchyard/contracts/jobs'
import { latenessAt } from '@switchyard/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startHarness } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let subscriber: Redis
/** Instants of the notices on the channel, and the times of their arrival. */
let heard: { at: number; heardAtMs: number }[] = []

beforeAll(async () => {
  harness = await startHarness()
  subscriber = new Redis({ path: harness.testRedis.path })
  subscriber.on('error', () => {})
  subscriber.on('message', (_channel, text) => heard.push({ ...JSON.parse(text), heardAtMs: Date.now() }))
  await subscriber.subscribe(broadcastChannel)
})
afterAll(async () => {
  subscriber?.disconnect()
  await harness?.close()
})
beforeEach(async () => {
  await harness.database.prisma.broadcastMessage.deleteMany()
  await harness.redis.flushall()
  heard = []
})

const soon = (ms: number) => new Date(Date.now() + ms)
const createMessage = (startsAt: Date, endsAt: Date) =>
  harness.database.prisma.broadcastMessage.create({ data: { message: 'x', startsAt, endsAt } })
const planned = async () =>
  (await harness.queue(queueNames.broadcastBoundary).getDelayed()).map(({ data }) => data.at).sort()

describe('the boundaries of broadcast messages', () => {
  it('are published at their instant', async () => {
    const worker = await harness.startWorker()
    const queue = harness.queue(queueNames.broadcastBoundary)
    const tellAt = async (at: Date) => {
      const { name, data, options } = broadcastBoundaryJob(at, new Date())
      await queue.add(name, data, options)
    }
    // The client is connected when a command has run.
    await tellAt(new Date())
    await expect.poll(() => heard).toHaveLength(1)
    heard = []
    const instants = [soon(600), soon(900), soon(1200)]
    const lateness = Promise.all(instants.map(latenessAt))
    for (const at of instants) await tellAt(at)
    await expect.poll(() => heard).toHaveLength(3)
    expect(heard.map(({ at }) => at)).toEqual(instants.map((at) => at.getTime()))
    for (const { at, heardAtMs } of heard) {
      expect(heardAtMs - at).toBeGreaterThanOrEqual(0)
      expect(heardAtMs - at).toBeLessThan(300 + Math.max(...(await lateness)))
    }
    await worker.close()
  })

  it('are planned from the table as soon as a worker starts: each instant once, only for the next day', async () => {
    const [first, second] = [soon(60_000), soon(120_000)]
    await createMessage(first, second)
    await createMessage(first, soon(30 * 86_400_000))
    await createMessage(soon(-60_000), soon(-30_000))
    await createMessage(second, first)
    const workers = await Promise.all([harness.startWorker(), harness.startWorker()])
    await expect.poll(planned).toEqual([first.getTime(), second.getTime() + 1])
    await Promise.all(workers.map((worker) => worker.close()))
  })

  it('survive a crash of Redis and of the worker', async () => {
    // The end comes after the restart, also on a busy machine.
    await createMessage(soon(-1000), soon(10_000))
    const worker = await harness.startWorker()
    await expect.poll(planned).toHaveLength(1)
    await worker.close()
    // The log of writes is on disk within a second.
    await expect
      .poll(async () => (await harness.redis.info('persistence')).includes('aof_pending_bio_fsync:0'))
      .toBe(true)
    await harness.testRedis.kill()
    await harness.testRedis.restart()
    await expect.poll(planned).toHaveLength(1)
    await expect.poll(() => subscriber.status).toBe('ready')
    const next = await harness.startWorker()
    await expect.poll(() => heard).toHaveLength(1)
    await next.close()
  })

  it('are planned again when Redis has lost everything under a running worker', async () => {
    const worker = await harness.startWorker()
    await expect.poll(() => harness.queue(queueNames.broadcastPlanning).getJobSchedulersCount()).toBe(1)
    const startsAt = soon(60_000)
    await createMessage(startsAt, soon(120_000))
    await harness.redis.flushall()
    await harness.testRedis.restart()
    await expect.poll(planned).toContain(startsAt.getTime())
    await worker.close()
  })

  it('are also planned every five minutes', async () => {
    const worker = await harness.startWorker()
    const queue = harness.queue(queueNames.broadcastPlanning)
    await expect.poll(() => queue.getJobSchedulers()).toMatchObject([{ pattern: '*/5 * * * *', tz: 'UTC' }])
    await worker.close()
  })
})
