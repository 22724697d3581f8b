import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keys, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const answer503 = {
  message: '503 Service Unavailable - the job queue source switchyard does not answer',
  request_id: expect.any(String),
}

async function expectUnavailable() {
  const startedMs = performance.now()
  const response = await harness.get('admin', '/jobqueue/compound_metrics')
  expect([response.status, await response.json()]).toEqual([503, answer503])
  expect(performance.now() - startedMs).toBeLessThan(4000)
}

const status = async () => (await harness.get('admin', '/jobqueue/job_stats')).status

it('metrics are answered with 503 and the name of the source while Redis is unreachable, and recover automatically', async () => {
  expect(await status()).toBe(200)
  await harness.testRedis.kill()
  await expect.poll(status).toBe(503)
  await expectUnavailable()
  const readiness = await fetch(`${harness.baseUrl}/-/readiness`)
  expect(readiness.status).toBe(503)
  expect(await readiness.json()).toMatchObject({
    checks: { postgres: 'ok', redis: 'there is no connection to Redis' },
  })
  await harness.testRedis.restart()
  await expect.poll(status).toBe(200)
})

it('metrics are answered with 503 within the deadline while Redis hangs', async () => {
  expect(await status()).toBe(200)
  const pid = /process_id:(\d+)/.exec(await harness.redis.info('server'))?.[1] ?? ''
  const signal = (name: string) => promisify(execFile)('kill', [`-${name}`, pid])
  await signal('STOP')
  try {
    await expectUnavailable()
  } finally {
    await signal('CONT')
  }
  await expect.poll(status).toBe(200)
})

it('metrics are answered with 503 instead of wrong values when a part cannot be read', async () => {
  await harness.redis.sadd(keys.queues, 'odd')
  await harness.redis.set('{switchyard}:odd:wait', 'not a list')
  await expectUnavailable()
  await harness.redis.del('{switchyard}:odd:wait')
  expect(await status()).toBe(200)
})
