import { fileURLToPath } from 'node:url'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Metrics, startHarness } from './harness.js'

const ruby = process.env.SWITCHYARD_TEST_SIDEKIQ_RUBY ?? ''
const script = fileURLToPath(new URL('fixtures/sidekiq_peer.rb', import.meta.url))

/** The answer of Sidekiq's own API. */
interface Answer {
  queues: [name: string, size: number, latencySeconds: number][]
  processes: (Omit<Metrics['processes'][number], 'started_at'> & { started_at: number })[]
  /** Number of members of its set of processes, alive or not. */
  members: number
  jobs: Metrics['jobs']
}

if (!ruby) console.warn('SKIPPED: a real Sidekiq, because no Ruby here has it (apt-get install ruby-sidekiq)')

describe.skipIf(!ruby)("our answer about a real Sidekiq equals Sidekiq's own", () => {
  let harness: Awaited<ReturnType<typeof startHarness>>
  beforeAll(async () => {
    harness = await startHarness(() => ({ JOBQUEUE_SOURCES: '[{"name":"rails","kind":"sidekiq"}]' }))
  })
  afterAll(() => harness.close())

  const peer = (...args: string[]) =>
    execa(ruby, [script, ...args], { env: { REDIS_SOCKET: harness.testRedis.path }, stdin: 'ignore' })
  const push = (...jobs: [name: string, count: number, ...args: number[]][]) =>
    peer('push', JSON.stringify(jobs))
  const ask = async () => JSON.parse(String((await peer('ask')).stdout)) as Answer

  async function expectEqual(): Promise<Answer> {
    const [theirs, ours] = [await ask(), await harness.metrics('/sidekiq/compound_metrics')]
    expect(Object.entries(ours.queues).map(([name, { backlog }]) => [name, backlog])).toEqual(
      theirs.queues.map(([name, size]) => [name, size]),
    )
    for (const [name, , latency] of theirs.queues) {
      // Both sides report the age of a job at the time of their own question.
      expect(Math.abs((ours.queues[name]?.latency ?? Number.NaN) - Math.trunc(latency))).toBeLessThan(5)
    }
    expect(ours.jobs).toEqual(theirs.jobs)
    expect(ours.processes).toEqual(
      theirs.processes.map((process) => ({
        ...process,
        started_at: new Date(process.started_at * 1000).toISOString(),
      })),
    )
    return theirs
  }

  const started = () =>
    waitFor(async () => (await harness.metrics('/sidekiq/process_metrics')).processes.length === 1, {
      what: 'Sidekiq to start',
    })

  it('before any job has run', async () => {
    expect((await expectEqual()).processes).toEqual([])
  })

  it('under load, after all jobs, after TERM and after KILL', async () => {
    const worker = peer('worker')
    await started()
    await push(['GoodJob', 400, 25], ['DeadJob', 3], ['RetryJob', 2], ['UnservedJob', 3])
    const queues = async () => (await harness.metrics('/sidekiq/queue_metrics')).queues
    await expect.poll(async () => (await queues()).critical?.backlog).toBeLessThan(390)
    worker.kill('SIGSTOP')
    const loaded = await expectEqual()
    expect(loaded.jobs.enqueued).toBeGreaterThan(3)
    worker.kill('SIGCONT')

    await expect.poll(async () => (await ask()).jobs.processed).toBe(405)
    await waitFor(async () => (await ask()).processes[0]?.busy === 0)
    const done = await expectEqual()
    expect(done.jobs).toEqual({ processed: 405, failed: 5, enqueued: 3, scheduled: 1, retry: 2, dead: 3 })
    expect(done.processes).toMatchObject([
      { tag: 'demo-tag', concurrency: 4, queues: ['critical', 'default'] },
    ])

    worker.kill('SIGTERM')
    await worker
    expect((await expectEqual()).members).toBe(0)

    const killed = peer('worker')
    await started()
    killed.kill('SIGKILL')
    await killed.catch(() => {})
    expect((await expectEqual()).processes).toHaveLength(1)
    // A minute later the hash has expired, and only a cleanup would remove the member.
    const [identity = ''] = await harness.redis.smembers('processes')
    await harness.redis.pexpire(identity, 1)
    await expect.poll(() => harness.redis.exists(identity)).toBe(0)
    expect(await expectEqual()).toMatchObject({ processes: [], members: 1 })
  })
})
