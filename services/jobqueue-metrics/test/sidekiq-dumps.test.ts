import { startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadSidekiqDump } from './support/load-dump.js'
import { openSource } from './support/open-source.js'

let testRedis: TestRedis
let redis: Redis
beforeAll(async () => {
  testRedis = await startTestRedis()
  redis = new Redis({ path: testRedis.path })
})
afterAll(async () => {
  redis.disconnect()
  await testRedis.stop()
})
beforeEach(() => redis.flushall())

async function readAt(nowSeconds: number, config: Record<string, unknown> = {}) {
  const source = openSource({ kind: 'sidekiq', ...config }, testRedis.url, () => new Date(nowSeconds * 1000))
  try {
    return await waitFor(() => source.read(), { what: 'the connection' })
  } finally {
    source.close()
  }
}

const idle = { backlog: 0, latencySeconds: 0, paused: false, busy: null, processed: null, failed: null }
const demo = { hostname: 'vm', tag: 'demo-tag', quiet: false }

/** Answers of Sidekiq's own Ruby API about each dump, and the time of the question. */
const golden = {
  '6.4.1': {
    atSeconds: 1795247197.5519724 + 41.7257,
    latency: 41,
    queues: ['critical', 'default'],
    process: { ...demo, pid: 13256, labels: [], queues: ['critical', 'default'], concurrency: 4, busy: 2 },
    startedAt: '2026-11-21T07:46:34.652Z',
    rssKib: 30876,
  },
  '7.3.9': {
    atSeconds: 1795247361.4764884 + 14.14,
    latency: 14,
    queues: ['critical', 'default', 'single'],
    process: {
      ...demo,
      pid: 17015,
      labels: ['blue', 'zone-a'],
      queues: ['critical', 'default', 'single'],
      concurrency: 5,
      busy: 3,
    },
    startedAt: '2026-11-21T07:49:18.531Z',
    rssKib: 27532,
  },
  '8.1.7': {
    atSeconds: 1795247414.627 + 14.615,
    latency: 14,
    queues: ['critical', 'default', 'single'],
    process: {
      ...demo,
      pid: 17570,
      labels: ['blue', 'zone-a'],
      queues: ['critical', 'default', 'single'],
      concurrency: 5,
      busy: 3,
    },
    startedAt: '2026-11-21T07:50:10.641Z',
    rssKib: 26892,
  },
}

describe.each(Object.entries(golden))("Sidekiq %s's own answer", (version, expected) => {
  const { atSeconds, latency, queues, process, startedAt, rssKib } = expected

  it('equals ours: queues, the fields of every process, and the totals', async () => {
    await loadSidekiqDump(redis, version)
    const snapshot = await readAt(atSeconds)
    expect(snapshot.queues).toEqual([
      ...queues.map((name) => ({ name, ...idle })),
      { name: 'unserved', ...idle, backlog: 3, latencySeconds: latency },
    ])
    expect(snapshot.processes).toHaveLength(1)
    expect(snapshot.processes[0]).toMatchObject({ ...process, startedAt: new Date(startedAt), rssKib })
    expect(snapshot.jobs).toEqual({
      processed: 8,
      failed: 3,
      scheduled: 1,
      retry: 1,
      dead: 1,
      approximate: false,
    })
  })

  it('equals ours in a namespace, too', async () => {
    await loadSidekiqDump(redis, version)
    for (const key of await redis.keys('*')) await redis.rename(key, `resque:gitlab:${key}`)
    const { queues: found, processes } = await readAt(atSeconds, { namespace: 'resque:gitlab' })
    expect([found.length, found.at(-1)?.backlog, processes.length]).toEqual([queues.length + 1, 3, 1])
    expect((await readAt(atSeconds)).queues).toEqual([])
  })

  it('a killed process is left out, but not removed', async () => {
    await loadSidekiqDump(redis, version)
    const [identity = ''] = await redis.smembers('processes')
    await redis.del(identity)
    expect((await readAt(atSeconds)).processes).toEqual([])
    expect(await redis.smembers('processes')).toEqual([identity])
  })
})

describe('a queue of Sidekiq', () => {
  const nowSeconds = 1_795_247_500
  const push = async (job: unknown) => {
    await redis.sadd('queues', 'mail')
    await redis.lpush('queue:mail', typeof job === 'string' ? job : JSON.stringify(job))
  }
  const mail = async () => (await readAt(nowSeconds)).queues[0]

  it.each([
    ['whole seconds', { enqueued_at: nowSeconds - 30 }, 30],
    ['seconds as text', { enqueued_at: String(nowSeconds - 30.5) }, 30],
    ['milliseconds', { enqueued_at: (nowSeconds - 30) * 1000 }, 30],
    ['a clock that is ahead', { enqueued_at: nowSeconds + 30 }, 0],
    ['the creation in milliseconds', { created_at: (nowSeconds - 30) * 1000 }, 30],
    ['the creation in seconds, which only tells of version 8', { created_at: nowSeconds - 30 }, 0],
    ['nothing', {}, 0],
    ['no object', '[1]', 0],
    ['broken JSON', '{"enqueued_at":', 0],
  ])('takes %s for the time of its oldest job', async (_name, job, latencySeconds) => {
    await push(job)
    await push({ enqueued_at: nowSeconds - 1 })
    expect(await mail()).toMatchObject({ backlog: 2, latencySeconds })
  })

  it('may have colons in its name, and is shown as paused', async () => {
    await redis.sadd('queues', 'hashed_storage:migrate')
    await redis.sadd('paused', 'hashed_storage:migrate')
    expect((await readAt(nowSeconds)).queues).toEqual([
      { name: 'hashed_storage:migrate', ...idle, paused: true },
    ])
  })
})

it('the concurrency is found where each version of Sidekiq stores it', async () => {
  const info = { hostname: 'h', pid: 1, started_at: 1, queues: ['old'], labels: [], identity: 'h:1:a' }
  const capsules = {
    default: { concurrency: 3, mode: 'strict', weights: { a: 0, b: 0 } },
    one: { concurrency: 1, mode: 'strict', weights: { b: 0, c: 0 } },
  }
  const shown = async (fields: Record<string, unknown>, hash: Record<string, string> = {}) => {
    await redis.flushall()
    await redis.sadd('processes', 'h:1:a')
    await redis.hset('h:1:a', { info: JSON.stringify({ ...info, ...fields }), ...hash })
    const [process] = (await readAt(1)).processes
    return [process?.concurrency, process?.queues, process?.tag]
  }
  expect(await shown({ concurrency: 7 })).toEqual([7, ['old'], ''])
  expect(await shown({ concurrency: 7, tag: null }, { concurrency: '8' })).toEqual([8, ['old'], ''])
  expect(await shown({ capsules, queues: undefined, tag: 'x' })).toEqual([4, ['a', 'b', 'c'], 'x'])
})
