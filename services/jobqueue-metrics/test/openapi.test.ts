import { openDocumentedApi } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let worker: Awaited<ReturnType<typeof harness.startWorker>>
let api: Awaited<ReturnType<typeof openDocumentedApi>>

beforeAll(async () => {
  harness = await startHarness(() => ({ JOBQUEUE_HISTORY: 'true' }))
  worker = await harness.startWorker()
  await (await harness.queue('mail')).add('send', {})
  api = await openDocumentedApi(harness.baseUrl, harness.tokens.scraper)
})
afterAll(async () => {
  await worker?.stop()
  await harness?.close()
})

it('every operation answers as documented, in short and extended form', async () => {
  await expect.poll(async () => (await harness.metrics()).processes).toHaveLength(1)
  for (const query of [undefined, { extended: 'true' }]) {
    for (const base of ['/jobqueue', '/sidekiq']) {
      await api.call(`GET ${base}/sources`)
      await api.call(`GET ${base}/queue_metrics`, { query })
      await api.call(`GET ${base}/process_metrics`, { query })
      await api.call(`GET ${base}/job_stats`, { query })
      await api.call(`GET ${base}/compound_metrics`, { query })
      await api.call(`GET ${base}/stream`, { query })
      await api.call(`GET ${base}/stream`, { query: { ...query, by_source: 'true' } })
    }
  }
  const pointsAt = async (base: string) => {
    const { body } = await api.call(`GET ${base}/history`, { query: { resolution: '10' } })
    return (body as { points: unknown[] }).points.length
  }
  await expect.poll(() => pointsAt('/jobqueue')).toBeGreaterThan(0)
  expect(await pointsAt('/sidekiq')).toBeGreaterThan(0)
  await callJobs()
  expect(api.uncalled()).toEqual([])
})

/** Calls the operations on a job that fails at once because of its invalid payload. */
async function callJobs() {
  const token = harness.tokens.jobManager
  const queue = await harness.queue('repository-housekeeping')
  const { id } = await queue.add('repository-housekeeping', { projectId: 'none' })
  const failed = async () => {
    await expect.poll(() => queue.getFailedCount()).toBe(1)
  }
  await failed()
  const job = { path: { queue: queue.name, id: String(id) }, token }
  await api.call('GET /jobqueue/jobs', { query: { queue: queue.name }, token })
  await api.call('GET /jobqueue/jobs/{queue}/{id}', job)
  await api.call('POST /jobqueue/jobs/{queue}/{id}/retry', job)
  await failed()
  await api.call('DELETE /jobqueue/jobs/{queue}/{id}', job)
}

it('refusals match the documentation', async () => {
  const { tokens } = harness
  const answers = [
    await api.call('GET /jobqueue/queue_metrics', { query: { source: 'nobody' } }),
    await api.call('GET /jobqueue/history', { query: { resolution: '11' } }),
    await api.call('GET /sidekiq/job_stats', { token: null }),
    await api.call('GET /jobqueue/stream', { token: tokens.user }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 401, 403])
})
