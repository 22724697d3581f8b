import { createLogger } from '@switchyard/service-kit/observability'
import { startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadSidekiqDump } from './support/load-dump.js'
import { openSource } from './support/open-source.js'

/** The commands that docs/job-queues.md tells operators to grant. */
const commands =
  'ping info client|setname get hget hgetall hmget lindex llen lrange smembers zcard zcount zrange zrangebyscore'
const rights = [
  'resetkeys',
  '%R~*',
  'resetchannels',
  '-@all',
  ...commands.split(' ').map((name) => `+${name}`),
]

let testRedis: TestRedis
let redis: Redis
let queues: Queue[]
beforeAll(async () => {
  testRedis = await startTestRedis()
  redis = new Redis({ path: testRedis.path })
  const grant = (user: string, ...more: string[]) =>
    redis.call('ACL', 'SETUSER', user, 'on', '>reading', ...rights, ...more)
  await grant('reader', '+client|list', '+scan')
  await grant('undiscovering')
  await loadSidekiqDump(redis, '8.1.7')
  queues = ['mail', 'reports'].map((name) => new Queue(name, { connection: { path: testRedis.path } }))
  for (const queue of queues) {
    await queue.addBulk([
      { name: 'a', data: {}, opts: { timestamp: Date.now() - 60_100 } },
      { name: 'b', data: {}, opts: { priority: 3 } },
      { name: 'c', data: {}, opts: { priority: 9, timestamp: Date.now() - 90_100 } },
      { name: 'd', data: {}, opts: { delay: 60_000 } },
      { name: 'e', data: {}, opts: { lifo: true } },
    ])
  }
  await queues[1]?.pause()
})
afterAll(async () => {
  await Promise.all(queues.map((queue) => queue.close()))
  redis.disconnect()
  await testRedis.stop()
})

/** Returns the whole content of this Redis. */
async function contents(): Promise<Record<string, string>> {
  const keys = (await redis.keys('*')).sort()
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)))
  return Object.fromEntries(keys.map((key, index) => [key, String(dumps[index]?.toString('base64'))]))
}

const sources = {
  sidekiq: { kind: 'sidekiq' },
  bullmq: { kind: 'bullmq' },
}

describe('a user with read-only permissions', () => {
  it.each(Object.entries(sources))(
    'is sufficient for %s: nothing is refused, and nothing changes',
    async (_kind, config) => {
      await redis.call('ACL', 'LOG', 'RESET')
      const before = await contents()
      const source = openSource({ ...config, username: 'reader', password: 'reading' }, testRedis.url)
      const first = await waitFor(() => source.read(), { what: 'the connection' })
      const second = await source.read()
      source.close()
      expect(first.queues.length).toBeGreaterThan(1)
      expect(second.queues.map(({ backlog }) => backlog)).toEqual(first.queues.map(({ backlog }) => backlog))
      expect(await contents()).toEqual(before)
      const refused = (await redis.call('ACL', 'LOG')) as string[][]
      const objects = refused.map((entry) => entry[entry.indexOf('object') + 1] ?? '')
      expect(objects.filter((name) => name !== 'client|setinfo')).toEqual([])
    },
  )
})

it('a read-only source has backlog and latency of the configured queues', async () => {
  const config = { ...sources.bullmq, username: 'reader', password: 'reading' }
  const source = openSource(config, testRedis.url)
  const { queues } = await waitFor(() => source.read(), { what: 'the connection' })
  source.close()
  for (const { latencySeconds } of queues)
    expect(Math.abs((latencySeconds ?? 0) - 100)).toBeLessThanOrEqual(10)
  const metrics = { backlog: 4, latencySeconds: expect.any(Number), busy: 0, processed: 0, failed: 0 }
  expect(queues).toEqual([
    { name: 'mail', paused: false, ...metrics },
    { name: 'reports', paused: true, ...metrics },
  ])
})

it('a source finds queues among all keys, and workers among connections', async () => {
  const config = { kind: 'bullmq', username: 'reader', password: 'reading' }
  let laterMs = 0
  const source = openSource(config, testRedis.url, () => new Date(Date.now() + laterMs))
  const worker = new Redis({ path: testRedis.path })
  const encoded = Buffer.from('thumbnails').toString('base64')
  await worker.client('SETNAME', `bull:${encoded}:w:resizer`)
  const names = async () => (await source.read()).queues.map(({ name }) => name)
  // Only the search finds the names of the other two.
  await expect.poll(() => names().catch(() => [])).toEqual(['mail', 'reports', 'thumbnails'])
  const { processes } = await source.read()
  expect(processes).toMatchObject([
    { pid: 0, tag: 'resizer', queues: ['thumbnails'], labels: [], concurrency: 0, busy: 0, beatMs: null },
  ])
  // Ages are in whole seconds, so a read at another fraction of a second must find the same process.
  laterMs = 700
  expect((await source.read()).processes).toEqual(processes)
  worker.disconnect()
  await expect.poll(async () => (await source.read()).processes).toEqual([])
  source.close()
})

it('a source reads its known queues, and warns once for each command, when Redis refuses to search', async () => {
  const logger = createLogger('test', 'silent')
  vi.spyOn(logger, 'child').mockReturnValue(logger as never)
  const warn = vi.spyOn(logger, 'warn')
  const config = { kind: 'bullmq', queues: ['mail'], username: 'undiscovering', password: 'reading' }
  const source = openSource(config, testRedis.url, undefined, logger)
  await waitFor(() => source.read(), { what: 'the connection' })
  expect((await source.read()).queues.map(({ name }) => name)).toEqual(['mail'])
  source.close()
  expect(warn.mock.calls.map(([fields]) => Reflect.get(fields as object, 'command')).toSorted()).toEqual([
    'CLIENT LIST',
    'SCAN',
  ])
})

it('a source without discovery never searches', async () => {
  await redis.call('CONFIG', 'RESETSTAT')
  const source = openSource({ kind: 'bullmq', queues: ['mail'], discover: false }, testRedis.url)
  const { queues } = await waitFor(() => source.read(), { what: 'the connection' })
  source.close()
  expect(queues.map(({ name }) => name)).toEqual(['mail'])
  const stats = await redis.info('commandstats')
  expect(stats).not.toMatch(/cmdstat_(scan|client\|list|keys):/)
})

it('a source logs once why it cannot read, and never the password', async () => {
  const logger = createLogger('test', 'silent')
  vi.spyOn(logger, 'child').mockReturnValue(logger as never)
  const warn = vi.spyOn(logger, 'warn')
  const config = { kind: 'bullmq', username: 'reader', password: 'mistaken' }
  const source = openSource(config, testRedis.url, () => new Date(), logger)
  await expect.poll(() => warn.mock.calls.length).toBe(1)
  for (let attempt = 0; attempt < 5; attempt += 1) await expect(source.read()).rejects.toThrow()
  source.close()
  expect(JSON.stringify(warn.mock.calls)).toMatch(/WRONGPASS/)
  expect(JSON.stringify(warn.mock.calls)).not.toContain('mistaken')
  expect(warn).toHaveBeenCalledTimes(1)
})

it('a source finds each of many queues and processes under its own name', async () => {
  const names = Array.from({ length: 120 }, (_each, index) => `many-${String(index).padStart(3, '0')}`)
  const startedAt = Date.now() / 1000
  for (const [index, name] of names.entries()) {
    const info = { hostname: name, pid: index, tag: '', started_at: startedAt, queues: [name], labels: [] }
    await redis
      .multi()
      .sadd('queues', name)
      .lpush(
        `queue:${name}`,
        ...Array.from({ length: index + 1 }, () => `{"enqueued_at":${startedAt - index}}`),
      )
      .sadd('processes', `${name}:1:x`)
      .hset(`${name}:1:x`, { info: JSON.stringify(info), busy: index, concurrency: 200 })
      .exec()
  }
  const source = openSource({ kind: 'sidekiq', username: 'reader', password: 'reading' }, testRedis.url)
  const first = await waitFor(() => source.read(), { what: 'the connection' })
  await redis.lpush('queue:many-007', '{}')
  const second = await source.read()
  source.close()
  const backlogs = ({ queues }: typeof first) =>
    queues.filter(({ name }) => name.startsWith('many')).map(({ backlog }) => backlog)
  expect(backlogs(first)).toEqual(names.map((_name, index) => index + 1))
  expect(backlogs(second)).toEqual(names.map((_name, index) => (index === 7 ? 9 : index + 1)))
  expect(first.processes.map(({ busy }) => busy)).toEqual(expect.arrayContaining([0, 60, 119]))
})
