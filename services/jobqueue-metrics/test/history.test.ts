import { fileURLToPath } from 'node:url'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { createLogger } from '@switchyard/service-kit/observability'
import { createRedis } from '@switchyard/service-kit/redis'
import { execa } from 'execa'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createHistory, type History } from '../src/history/history.js'
import { recordHistory } from '../src/history/record-history.js'
import { createSnapshots } from '../src/snapshots/snapshots.js'
import { shareSource } from '../src/sources/sources.js'
import { startHarness } from './harness.js'
import { openSource } from './support/open-source.js'

let harness: Awaited<ReturnType<typeof startHarness>>
/** Database 1 of Redis. The service of the harness stores its own samples in database 0. */
let redis: Redis
const redisUrl = () => `${harness.testRedis.url}?db=1`
beforeAll(async () => {
  harness = await startHarness(() => ({ JOBQUEUE_HISTORY: 'true' }))
  redis = harness.redis.duplicate({ db: 1 })
})
afterAll(async () => {
  redis?.disconnect()
  await harness?.close()
})
beforeEach(() => harness.redis.flushall())

const startMs = Date.UTC(2026, 10, 21, 12, 0, 5)

/** Starts a recorder on a test clock with its own history, as every replica has. */
async function startRecorder(clock: { nowMs: number }) {
  const now = () => new Date(clock.nowMs)
  const source = openSource({ kind: 'sidekiq' }, redisUrl(), now)
  await expect.poll(() => source.read().catch(() => null)).not.toBeNull()
  const snapshots = createSnapshots([shareSource({ source, cacheMs: 0, deadlineMs: 1000 })])
  const storage = createRedis({ url: redisUrl(), onError: () => {} })
  const history = createHistory(snapshots.names)
  const logger = createLogger('test', 'silent')
  const recording = recordHistory({ snapshots, history, redis: storage, clock: now, logger })
  await expect.poll(() => storage.status).toBe('ready')
  return {
    history,
    tick: recording.tick,
    close() {
      recording.stop()
      source.close()
      storage.disconnect()
    },
  }
}

const ask = (history: History, resolutionSeconds: 10 | 60, queue?: string) =>
  history.points({ queue, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, resolutionSeconds })

async function push(name: string, nowMs: number) {
  await redis.sadd('queues', name)
  await redis.lpush(`queue:${name}`, JSON.stringify({ enqueued_at: nowMs / 1000 }))
}

describe('the history', () => {
  it('has a point every ten seconds, and every minute, for each queue and for the whole source', async () => {
    const clock = { nowMs: startMs }
    const { history, tick, close } = await startRecorder(clock)
    for (let ticks = 0; ticks < 13; ticks += 1) {
      await push(ticks < 6 ? 'mail' : 'reports', clock.nowMs)
      await tick()
      clock.nowMs += 10_000
    }
    close()
    expect(ask(history, 10, 'mail').map(({ backlog }) => backlog)).toEqual([
      1,
      2,
      3,
      4,
      5,
      ...Array(8).fill(6),
    ])
    expect(ask(history, 10, 'mail').map(({ latency }) => latency)).toEqual(
      Array.from({ length: 13 }, (_each, index) => index * 10),
    )
    expect(ask(history, 10, 'reports').map(({ backlog }) => backlog)).toEqual([
      ...Array(6).fill(null),
      1,
      2,
      3,
      4,
      5,
      6,
      7,
    ])
    expect(ask(history, 60).map(({ atMs, backlog }) => [(atMs - startMs) / 1000, backlog])).toEqual([
      [0, 1],
      [60, 7],
      [120, 13],
    ])
    expect(ask(history, 60)[0]).toEqual({
      atMs: startMs,
      backlog: 1,
      latency: 0,
      processed: 0,
      failed: 0,
      busy: 0,
    })
  })

  it('survives a restart, and is stored once for any number of replicas', async () => {
    const clock = { nowMs: startMs }
    const replicas = [await startRecorder(clock), await startRecorder(clock)]
    for (let ticks = 0; ticks < 3; ticks += 1) {
      await push('mail', clock.nowMs)
      for (const { tick } of replicas) await tick()
      clock.nowMs += 60_000
    }
    for (const { close } of replicas) close()
    expect(await redis.llen('{jq}:history:10s')).toBe(3)
    expect(await redis.ttl('{jq}:history:1m')).toBeGreaterThan(86_400)

    const next = await startRecorder(clock)
    await expect.poll(() => ask(next.history, 60, 'mail').map(({ backlog }) => backlog)).toEqual([1, 2, 3])
    await next.tick()
    expect(ask(next.history, 10, 'mail').map(({ backlog }) => backlog)).toEqual([1, 2, 3, 3])
    next.close()
  })

  it('stores no more series than its limit', async () => {
    const clock = { nowMs: startMs }
    const { tick, close } = await startRecorder(clock)
    await redis.sadd('queues', ...Array.from({ length: 2100 }, (_each, index) => `queue-${index}`))
    await tick()
    close()
    const stored = await redis.lindexBuffer('{jq}:history:1m', 0)
    const [, metrics] = JSON.parse(String(inflateRawSync(stored ?? Buffer.alloc(0))))
    expect(metrics).toHaveLength(2000)
  })

  it('of many queues is restored within little memory', async () => {
    const metrics = { backlog: 1, latency: 2, processed: 3, failed: 4, busy: 5 }
    const row = Array.from({ length: 5000 }, (_each, index) => [`test\nqueue-${index}`, metrics])
    const nowMs = Date.now()
    for (let age = 360; age > 0; age -= 1) {
      const packed = deflateRawSync(JSON.stringify([nowMs - age * 9000, row]), { level: 1 })
      await redis.lpush('{jq}:history:10s', packed)
    }
    const program = fileURLToPath(new URL('./fixtures/restore-history.ts', import.meta.url))
    const flags = ['--max-old-space-size=96', '--import', 'tsx']
    const { stdout } = await execa(process.execPath, [...flags, program, redisUrl()])
    expect(stdout).toBe('360')
  })

  it('drops points older than an hour, and than a day', async () => {
    const clock = { nowMs: startMs }
    const { history, tick, close } = await startRecorder(clock)
    await push('mail', clock.nowMs)
    await tick()
    clock.nowMs += 3_601_000
    await tick()
    expect([ask(history, 10).length, ask(history, 60).length]).toEqual([1, 2])
    clock.nowMs += 86_401_000
    await tick()
    expect([ask(history, 10).length, ask(history, 60).length]).toEqual([1, 1])
    close()
  })

  it('has a gap when a source did not answer', async () => {
    const clock = { nowMs: startMs }
    const { history, tick, close } = await startRecorder(clock)
    await push('mail', clock.nowMs)
    await redis.set('queue:odd', 'not a list')
    await redis.sadd('queues', 'odd')
    await tick()
    await redis.del('queue:odd')
    clock.nowMs += 10_000
    await tick()
    close()
    expect(ask(history, 10, 'mail').map(({ backlog }) => backlog)).toEqual([null, 1])
  })
})

describe('the history of several sources', () => {
  const metrics = (backlog: number) => ({ backlog, latency: 0, processed: backlog, failed: 0, busy: 0 })
  const sample = (atMs: number, sources: Record<string, number>) => ({
    atMs,
    metrics: new Map(
      Object.entries(sources).flatMap(([name, backlog]) => [
        [`${name}\n`, metrics(backlog)] as const,
        [`${name}\n${name}-queue`, metrics(backlog)] as const,
      ]),
    ),
  })
  const backlogs = (history: History, queue?: string) => ask(history, 10, queue).map(({ backlog }) => backlog)

  it('is unknown while one of them is unreachable, and the sum of the existing ones before another was added', () => {
    const history = createHistory(['mail', 'shop'])
    history.add(sample(10_000, { mail: 1 }))
    history.add(sample(20_000, { mail: 1, shop: 10 }))
    history.add(sample(30_000, { mail: 1 }))
    history.add(sample(40_000, { mail: 1, shop: 20 }))
    expect(backlogs(history)).toEqual([1, 11, null, 21])
    expect(backlogs(history, 'mail-queue')).toEqual([1, 1, 1, 1])
    expect(backlogs(history, 'shop-queue')).toEqual([null, 10, null, 20])
  })

  it('has the metrics of each source, however many queues another has', () => {
    const history = createHistory(['mail', 'shop'])
    const queues = Array.from({ length: 3000 }, (_each, index) => [`mail\n${index}`, metrics(1)] as const)
    const wholes = [['mail\n', metrics(3000)] as const, ['shop\n', metrics(5)] as const]
    history.add({ atMs: 10_000, metrics: new Map([...queues, ...wholes]) })
    expect(backlogs(history)).toEqual([3005])
  })

  it('has new queues after a day with more queues than it can store', () => {
    const history = createHistory(['mail'])
    const dayMs = 24 * 3_600_000
    const queues = Array.from({ length: 3000 }, (_each, index) => [`mail\n${index}`, metrics(1)] as const)
    history.add({ atMs: 60_000, metrics: new Map([...queues, ['mail\n', metrics(3000)] as const]) })
    for (let minute = 2; minute <= 1442; minute += 1)
      history.add({ atMs: minute * 60_000, metrics: new Map([['mail\n', metrics(1)]]) })
    const atMs = dayMs + 10 * 60_000
    history.add({
      atMs,
      metrics: new Map([
        ['mail\n', metrics(7)],
        ['mail\nnew', metrics(7)],
      ]),
    })
    expect(backlogs(history, 'new').at(-1)).toBe(7)
    expect(backlogs(history, '0').every((backlog) => backlog === null)).toBe(true)
  })
})

describe('GET /jobqueue/history', () => {
  const path = '/jobqueue/history'

  it('answers 401 without a token and 403 without the right', async () => {
    expect((await harness.get('guest', path)).status).toBe(401)
    expect((await harness.get('user', path)).status).toBe(403)
  })

  it.each([
    ['resolution=30', 'resolution does not have a valid value'],
    ['from=soon', 'from is invalid'],
    ['source=other', 'source does not have a valid value'],
  ])('refuses %s', async (query, error) => {
    const response = await harness.get('admin', `${path}?${query}`)
    expect([response.status, await response.json()]).toMatchObject([400, { error }])
  })

  it('answers with points of the requested time, at the finest resolution that covers it', async () => {
    const get = async (query: string) => {
      const response = await harness.get('scraper', `${path}?${query}`)
      return (await response.json()) as { resolution: number; queue: string | null; points: { at: string }[] }
    }
    await expect.poll(async () => (await get('resolution=10')).points.length).toBeGreaterThan(0)
    const { points, ...rest } = await get('resolution=10')
    expect(rest).toEqual({ source: null, queue: null, resolution: 10 })
    expect(Object.keys(points[0] ?? {})).toEqual(['at', 'backlog', 'latency', 'processed', 'failed', 'busy'])
    expect((await get(`from=${new Date(Date.now() - 60_000).toISOString()}`)).resolution).toBe(10)
    expect((await get('queue=mail')).resolution).toBe(60)
    expect((await get(`to=${points[0]?.at}&resolution=10`)).points).toHaveLength(1)
    expect((await get('to=2001-01-01&resolution=10')).points).toEqual([])
  })
})
