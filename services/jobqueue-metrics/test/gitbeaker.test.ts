import { Gitlab } from '@gitbeaker/rest'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'
import { loadSidekiqDump } from './support/load-dump.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness(() => ({
    JOBQUEUE_SOURCES:
      '[{"name":"rails","kind":"sidekiq"},{"name":"mails","kind":"bullmq","queues":["mail"]}]',
    // All answers come from one read, so that no latency grows between them.
    JOBQUEUE_CACHE_MS: '10000',
  }))
  await loadSidekiqDump(harness.redis, '8.1.7')
  const queue = new Queue('mail', { connection: { path: harness.testRedis.path } })
  await queue.add('job', {})
  await queue.close()
})
afterAll(() => harness.close())

it("GitLab's own client reads queues, processes and totals unchanged", async () => {
  const { SidekiqMetrics } = new Gitlab({ host: harness.baseUrl, token: harness.tokens.admin })
  const compound = await SidekiqMetrics.compoundMetrics()
  expect(await SidekiqMetrics.queueMetrics()).toEqual({ queues: compound.queues })
  expect(await SidekiqMetrics.processMetrics()).toEqual({ processes: compound.processes })
  expect(await SidekiqMetrics.jobStats()).toEqual({ jobs: compound.jobs })
  expect(compound).toMatchObject({
    queues: { mail: { backlog: 1 }, unserved: { backlog: 3 } },
    processes: [{ hostname: 'vm', pid: 17570, concurrency: 5, busy: 3 }],
    jobs: { processed: 8, failed: 3, enqueued: 4 },
  })
})

it("GitLab's own client receives the reason of a refusal", async () => {
  const refused = new Gitlab({ host: harness.baseUrl, token: harness.tokens.user })
  await expect(refused.SidekiqMetrics.jobStats()).rejects.toMatchObject({
    cause: { response: { status: 403 } },
  })
})
