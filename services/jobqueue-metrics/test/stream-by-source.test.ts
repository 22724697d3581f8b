import { eventsOf, startTestRedis, type TestRedis } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Metrics, startHarness } from './harness.js'

interface Source extends Partial<Metrics> {
  name: string
  message?: string
}

let harness: Awaited<ReturnType<typeof startHarness>>
let otherRedis: TestRedis
beforeAll(async () => {
  otherRedis = await startTestRedis()
  harness = await startHarness(() => ({
    JOBQUEUE_SOURCES: JSON.stringify([
      { name: 'mails', kind: 'bullmq', queues: ['mail'] },
      { name: 'rails', kind: 'sidekiq', url: otherRedis.url },
    ]),
  }))
})
afterAll(async () => {
  await harness?.close()
  await otherRedis?.stop()
})

/** Follows a stream and returns its newest event. */
async function follow(query: string) {
  const response = await harness.get('scraper', `/jobqueue/stream?${query}`)
  expect(response.status).toBe(200)
  const reader = eventsOf(response).getReader()
  let sources: Source[] | undefined
  const reading = (async () => {
    for (let { value } = await reader.read(); value; { value } = await reader.read())
      if (value.event === 'metrics') sources = JSON.parse(value.data).sources
  })().catch(() => {})
  return {
    last: () => sources,
    close: () => reader.cancel().then(() => reading),
  }
}

it('a stream by source continues with the metrics of one source while another is unreachable', async () => {
  const stream = await follow('by_source=true')
  await expect.poll(stream.last).toMatchObject([
    { name: 'mails', queues: {}, processes: [], jobs: { enqueued: 0 } },
    { name: 'rails', jobs: { enqueued: 0 } },
  ])
  await otherRedis.kill()
  await expect
    .poll(stream.last)
    .toMatchObject([
      { name: 'mails' },
      { name: 'rails', message: 'the job queue source rails does not answer' },
    ])
  expect(stream.last()?.[1]).not.toHaveProperty('queues')
  await harness.redis.lpush('bull:mail:wait', '1')
  await expect.poll(() => stream.last()?.[0]?.queues?.mail?.backlog).toBe(1)
  await stream.close()
})

it('a stream by source is refused with 400 for a single source', async () => {
  const response = await harness.get('scraper', '/jobqueue/stream?by_source=true&source=mails')
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: 'by_source cannot be combined with source' },
  ])
})
