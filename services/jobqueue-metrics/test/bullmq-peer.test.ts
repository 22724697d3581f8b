import { fileURLToPath } from 'node:url'
import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import { waitFor } from '@switchyard/testing'
import * as bullmq6 from 'bullmq'
import * as bullmq5 from 'bullmq5'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHarness } from './harness.js'

const script = fileURLToPath(new URL('fixtures/bullmq-peer.ts', import.meta.url))
const keys = registryKeys('bull')
const versions = { 5: bullmq5 as unknown as typeof bullmq6, 6: bullmq6 }

describe.each([5, 6] as const)("our answer about a real BullMQ %i equals BullMQ's own", (version) => {
  const { Queue } = versions[version]
  let harness: Awaited<ReturnType<typeof startHarness>>
  let queues: bullmq6.Queue[]
  beforeAll(async () => {
    const source = { name: 'bull', kind: 'bullmq', queues: ['mail', 'idle', 'paused'] }
    harness = await startHarness(() => ({ JOBQUEUE_SOURCES: JSON.stringify([source]) }))
    const connection = { path: harness.testRedis.path, maxRetriesPerRequest: null }
    queues = ['idle', 'mail', 'paused'].map((name) => new Queue(name, { connection }))
  })
  afterAll(async () => {
    await Promise.all(queues.map((queue) => queue.close()))
    await harness.close()
  })

  const startPeer = () => {
    const args = ['--import', 'tsx', script, String(version)]
    return execa(process.execPath, [...args, harness.testRedis.path], { stdio: 'ignore', reject: false })
  }
  const compound = () => harness.metrics('/jobqueue/compound_metrics?extended=true')
  const processes = async () => (await compound()).processes

  async function expectEqual() {
    const ours = await compound()
    const sum = { scheduled: 0, dead: 0, enqueued: 0 }
    for (const queue of queues) {
      const counts = await queue.getJobCounts()
      const backlog = (counts.waiting ?? 0) + (counts.paused ?? 0) + (counts.prioritized ?? 0)
      expect(ours.queues[queue.name]).toMatchObject({
        backlog,
        busy: counts.active,
        paused: await queue.isPaused(),
      })
      sum.enqueued += backlog
      sum.scheduled += counts.delayed ?? 0
      sum.dead += counts.failed ?? 0
    }
    expect(ours.jobs).toMatchObject({ ...sum, retry: 0 })
    return ours
  }

  it('before any job has run', async () => {
    expect((await expectEqual()).jobs).toMatchObject({ processed: 0, failed: 0, approximate: false })
  })

  it('under load, after all jobs, after TERM and after KILL', async () => {
    const [idle, mail, paused] = queues
    await paused?.pause()
    await paused?.addBulk([
      { name: 'good', data: {} },
      { name: 'urgent', data: {}, opts: { priority: 2 } },
    ])
    await idle?.add('later', {}, { delay: 3_600_000 })
    const jobs = Array.from({ length: 300 }, (_each, index) => ({
      name: index % 10 === 0 ? 'bad' : 'good',
      data: {},
      opts: index % 3 === 0 ? { priority: 1 + (index % 4) } : {},
    }))
    await mail?.addBulk(jobs)

    const peer = startPeer()
    await waitFor(async () => (await processes()).length === 1)
    await waitFor(async () => ((await mail?.getCompletedCount()) ?? 0) > 10)
    peer.kill('SIGSTOP')
    const loaded = await expectEqual()
    expect(loaded.queues.mail?.backlog).toBeGreaterThan(0)
    expect(loaded.processes).toMatchObject([
      { pid: peer.pid, tag: `bullmq-${version}`, queues: ['mail'], concurrency: 4 },
    ])
    peer.kill('SIGCONT')

    await expect.poll(async () => (await compound()).jobs).toMatchObject({ processed: 300 })
    const done = await expectEqual()
    expect(done.queues.mail).toMatchObject({ backlog: 0, latency: 0, processed: 300, failed: 30 })
    expect(done.jobs).toMatchObject({ processed: 300, failed: 30, dead: 30, enqueued: 2, scheduled: 1 })
    const metrics = await Promise.all([mail?.getMetrics('completed'), mail?.getMetrics('failed')])
    expect(metrics.map((each) => each?.meta.count)).toEqual([270, 30])

    peer.kill('SIGTERM')
    await peer
    expect((await expectEqual()).processes).toEqual([])

    await mail?.addBulk(jobs)
    const killed = startPeer()
    await waitFor(async () => ((await mail?.getActiveCount()) ?? 0) > 0)
    await waitFor(async () => (await processes()).length === 1)
    killed.kill('SIGKILL')
    await killed
    // Jobs of the killed worker stay active until another worker finds them stalled, also in BullMQ.
    await expectEqual()
    const [identity = ''] = await harness.redis.zrange(keys.processes, '0', '-1')
    await harness.redis.pexpire(keys.process(identity), 1)
    await expect.poll(async () => (await processes()).length).toBe(0)
    await expectEqual()
  })

  it("for a queue without heartbeats, by its workers' metrics or its kept jobs", async () => {
    await harness.redis.del(keys.queues, keys.processed, keys.failed)
    const byMetrics = await compound()
    expect(byMetrics.queues.mail?.processed).toBeGreaterThanOrEqual(300)
    expect(byMetrics.jobs).toMatchObject({ approximate: false })
    await harness.redis.del('bull:mail:metrics:completed', 'bull:mail:metrics:failed')
    const [mail] = queues.filter(({ name }) => name === 'mail')
    const { completed = 0, failed = 0 } = (await mail?.getJobCounts('completed', 'failed')) ?? {}
    const byKept = await compound()
    expect(byKept.jobs).toMatchObject({ processed: completed + failed, failed, approximate: true })
    expect(byKept.queues.mail).toMatchObject({ processed: null, failed: null })
  })
})
