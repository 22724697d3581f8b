import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const paths = ['/jobqueue', '/sidekiq'].flatMap((base) =>
  ['queue_metrics', 'process_metrics', 'job_stats', 'compound_metrics'].map((name) => `${base}/${name}`),
)

describe.each(paths)('GET %s', (path) => {
  it.each(['guest', 'unknown'] as const)('answers 401 to %s', async (who) => {
    const response = await harness.get(who, path)
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({ message: '401 Unauthorized', request_id: expect.any(String) })
  })

  it.each(['user', 'sagaReader', 'adminPusher'] as const)('answers 403 to %s', async (who) => {
    const response = await harness.get(who, path)
    expect(response.status).toBe(403)
    expect(await response.json()).toEqual({ message: '403 Forbidden', request_id: expect.any(String) })
  })

  it.each(['admin', 'adminReader', 'scraper'] as const)('answers %s', async (who) => {
    expect((await harness.get(who, path)).status).toBe(200)
  })

  it('has the shape of the contract before any job has run', async () => {
    const jobs = { processed: 0, failed: 0, enqueued: 0, scheduled: 0, retry: 0, dead: 0 }
    const whole = { queues: {}, processes: [], jobs }
    const name = path.split('/').at(-1) ?? ''
    const expected = {
      queue_metrics: { queues: {} },
      process_metrics: { processes: [] },
      job_stats: { jobs },
      compound_metrics: whole,
    }[name]
    const body = await (await harness.get('admin', path)).json()
    expect(JSON.stringify(body)).toBe(JSON.stringify(expected))
  })

  it('accepts no other verb', async () => {
    const response = await harness.get('admin', path, { method: 'POST' })
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'HEAD, GET'])
  })
})

it('has no other metrics', async () => {
  expect((await harness.get('admin', '/jobqueue/other_metrics')).status).toBe(404)
})
