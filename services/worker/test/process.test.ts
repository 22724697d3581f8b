import { jobKeyPrefix } from '@switchyard/contracts/jobs'
import { registryKeys } from '@switchyard/jobs-heartbeat/registry'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'
import { startWorkerProcess } from './worker-process.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const startProcess = (overrides: Record<string, string> = {}) =>
  startWorkerProcess({ ...harness.environment, ...overrides })

const statusOf = async (answer: Promise<Response>) => (await answer).status

it('a worker answers probes and scrapes, and on SIGTERM leaves the registry and exits with 0', async () => {
  const worker = await startProcess()
  await expect.poll(() => statusOf(worker.get('/-/readiness'))).toBe(200)
  expect(await (await worker.get('/-/liveness')).json()).toEqual({ status: 'ok' })
  expect(await (await worker.get('/metrics')).text()).toContain('process_cpu_seconds_total{service="worker"}')
  expect(await statusOf(worker.get('/api/v4/anything'))).toBe(404)
  const processes = () => harness.redis.zrange(registryKeys(jobKeyPrefix).processes, '0', '-1')
  await expect.poll(processes).toHaveLength(1)
  worker.child.kill('SIGTERM')
  expect(await worker.exited).toEqual([0, null])
  expect(await processes()).toEqual([])
})

it('a worker starts without PostgreSQL and Redis, alive and not ready, and names what is missing', async () => {
  const worker = await startProcess({
    REDIS_URL: 'unix:///nonexistent/redis.sock',
    DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  })
  await expect.poll(() => statusOf(worker.get('/-/liveness'))).toBe(200)
  const readiness = await worker.get('/-/readiness')
  expect(readiness.status).toBe(503)
  const { checks } = (await readiness.json()) as { checks: Record<string, string> }
  expect(checks).toEqual({
    postgres: 'database does not answer (ECONNREFUSED)',
    redis: 'there is no connection to Redis',
    'webhook-secrets': 'the database does not say by which keys secrets of webhooks are encrypted',
  })
  worker.child.kill('SIGTERM')
  expect(await worker.exited).toEqual([0, null])
})

it('a worker logs in plain words that Redis hangs, for as long as it does', async () => {
  const worker = await startProcess()
  await expect.poll(() => statusOf(worker.get('/-/readiness'))).toBe(200)
  const pid = Number(/process_id:(\d+)/.exec(await harness.redis.info('server'))?.[1])
  process.kill(pid, 'SIGSTOP')
  const texts = new Set<string>()
  try {
    // The client gives up its connection after ten seconds.
    for (const untilMs = performance.now() + 14_000; performance.now() < untilMs; ) {
      const { checks } = (await (await worker.get('/-/readiness')).json()) as { checks: { redis: string } }
      texts.add(checks.redis)
    }
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  expect(texts.size).toBeGreaterThan(1)
  const plain = ['no answer within 2000 ms', 'Redis does not answer', 'there is no connection to Redis']
  expect([...texts].filter((text) => !plain.includes(text))).toEqual([])
  await expect.poll(() => statusOf(worker.get('/-/readiness'))).toBe(200)
  worker.child.kill('SIGTERM')
  expect(await worker.exited).toEqual([0, null])
})

it('a worker stops within two seconds while Redis is unreachable', async () => {
  const worker = await startProcess()
  await expect.poll(() => statusOf(worker.get('/-/readiness'))).toBe(200)
  await harness.testRedis.kill()
  await expect.poll(() => statusOf(worker.get('/-/readiness'))).toBe(503)
  const startedMs = performance.now()
  worker.child.kill('SIGTERM')
  expect(await worker.exited).toEqual([0, null])
  expect(performance.now() - startedMs).toBeLessThan(2000)
  await harness.testRedis.restart()
})

it('a worker reports all errors of its environment at once', async () => {
  const worker = await startProcess({ REDIS_URL: 'http://x', SWITCHYARD_STORAGE_ROOT: 'relative' })
  expect(await worker.exited).toEqual([2, null])
  expect(worker.errors()).toContain('REDIS_URL: must be redis://')
  expect(worker.errors()).toContain('SWITCHYARD_STORAGE_ROOT: must be an absolute path')
})
