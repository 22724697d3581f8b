import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { getFreePort, startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'

const perMinute = 20
const main = join(import.meta.dirname, 'fixtures/limited-service.ts')
const replicas: { child: ChildProcess; port: number }[] = []
let redis: TestRedis
let observer: Redis

async function startReplica(): Promise<void> {
  const port = await getFreePort()
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      REDIS_URL: redis.urlOf('git-api'),
      RATE_LIMIT_PER_MINUTE: String(perMinute),
      LOG_LEVEL: 'silent',
    },
    stdio: 'ignore',
  })
  replicas.push({ child, port })
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/-/liveness`)).ok, {
    what: 'the service to answer',
  })
}

beforeAll(async () => {
  redis = await startTestRedis()
  observer = new Redis({ path: redis.path })
  // One test kills the server.
  observer.on('error', () => {})
  await Promise.all([startReplica(), startReplica()])
  await waitUntilShared()
})
afterAll(async () => {
  for (const { child } of replicas) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  observer?.disconnect()
  await redis?.stop()
})

async function ask(replica: number, token: string) {
  const started = performance.now()
  const response = await fetch(`http://127.0.0.1:${replicas[replica]?.port}/api/v4/hello`, {
    headers: { 'PRIVATE-TOKEN': token },
  })
  await response.text()
  return {
    status: response.status,
    remaining: Number(response.headers.get('RateLimit-Remaining')),
    retryAfter: Number(response.headers.get('Retry-After')),
    ms: performance.now() - started,
  }
}

let probes = 0
/** Waits until both replicas count in Redis, which shows when the second one sees the count of the first. */
async function waitUntilShared(): Promise<void> {
  const isShared = async () => {
    probes += 1
    await ask(0, `good-probe-${probes}`)
    return (await ask(1, `good-probe-${probes}`)).remaining === perMinute - 2
  }
  await waitFor(isShared, { what: 'both replicas to count in Redis' })
}

/** Returns the numbers of answers with each status when both replicas receive requests in turn. */
async function askInTurn(count: number, token: (index: number) => string) {
  const statuses: Record<number, number> = {}
  for (let index = 0; index < count; index += 1) {
    const { status } = await ask(index % 2, token(index))
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  return statuses
}

it('two replicas together allow a token as many requests as one would', async () => {
  expect(await askInTurn(perMinute + 10, () => 'good-many')).toEqual({ 200: perMinute, 429: 10 })
})

it('an address that tries tokens at one replica is refused by both, and its keys in Redis expire', async () => {
  expect((await ask(1, 'good-known')).status).toBe(200)
  expect(await askInTurn(60, (index) => `random-${index}`)).toEqual({ 401: 60 })
  for (const replica of [0, 1]) {
    const refused = await ask(replica, 'random-further')
    expect(refused.status).toBe(429)
    expect(refused.retryAfter).toBeGreaterThan(50)
    expect((await ask(replica, `good-never-used-at-${replica}`)).status).toBe(200)
  }
  expect((await ask(1, 'good-known')).status).toBe(200)
  const keys = await observer.keys('*')
  const ends = await Promise.all(keys.map((key) => observer.ttl(key)))
  expect(keys.every((key) => key.startsWith('switchyard:limits:git-api:'))).toBe(true)
  expect(Math.min(...ends)).toBeGreaterThan(0)
  expect(Math.max(...ends)).toBeLessThanOrEqual(3600)
  expect(keys.join()).not.toMatch(/good|random/)
  await observer.flushall()
})

it('while Redis hangs, requests are answered soon and each process counts alone', async () => {
  // Redis accepts connections and commands, and answers none, as when it is overloaded.
  await observer.client('PAUSE', 3000, 'ALL')
  const answers: Awaited<ReturnType<typeof ask>>[] = []
  for (let index = 0; index < perMinute + 5; index += 1) answers.push(await ask(0, 'good-hanging'))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(perMinute)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(5)
  expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(1000)
  await waitUntilShared()
})

it('while Redis is gone, nothing fails', async () => {
  await redis.kill()
  expect(await askInTurn(perMinute + 10, () => 'good-gone')).toEqual({ 200: perMinute + 10 })
  expect((await ask(0, 'random')).status).toBe(401)
  await redis.restart()
  await waitUntilShared()
})
