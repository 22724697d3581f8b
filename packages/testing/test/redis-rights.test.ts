import { redisServices } from '@switchyard/contracts/redis'
import { type RedisService, redisUrlOf } from '@switchyard/local-servers/redis-users'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestRedis, type TestRedis } from '../src/index.js'

let redis: TestRedis
beforeAll(async () => {
  redis = await startTestRedis()
})
afterAll(() => redis?.stop())

/** Returns the answer to a command of a service's user, or the first word of the refusal. */
async function attempt(service: RedisService, command: string, ...args: string[]): Promise<unknown> {
  const user = new URL(redisUrlOf(redis.url, service)).searchParams.get('user') ?? ''
  const client = new Redis({ path: redis.path, username: user, password: '', retryStrategy: () => null })
  client.on('error', () => {})
  try {
    return await client.call(command, ...args)
  } catch (error) {
    return String((error as Error).message).split(' ', 1)[0]
  } finally {
    client.disconnect()
  }
}

const housekeeping = '{switchyard}:repository-housekeeping:wait'
const delivery = '{switchyard}:webhook-delivery:wait'
const boundaries = '{switchyard}:broadcast-turn:wait'

it.each([...redisServices])('%s can neither administer Redis nor access keys of others', async (service) => {
  const refused = [
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['KEYS', '*'],
    ['CONFIG', 'GET', 'dir'],
    ['CONFIG', 'SET', 'maxmemory', '1'],
    ['ACL', 'LIST'],
    ['SHUTDOWN'],
    ['SAVE'],
    ['MONITOR'],
    ['DEBUG', 'SLEEP', '0'],
    ['SCRIPT', 'FLUSH'],
    ['FUNCTION', 'FLUSH'],
    ['SWAPDB', '0', '1'],
    ['CLIENT', 'KILL', 'ID', '1'],
    ['REPLICAOF', 'NO', 'ONE'],
    ['MIGRATE', '127.0.0.1', '1', 'key', '0', '1'],
    ['SET', 'another', 'x'],
    ['SET', 'switchyard:limits:another:requests:x', '0'],
    ['EVAL', "return redis.call('SET', 'another', 'x')", '0'],
    ['EVAL', "return redis.call('FLUSHALL')", '0'],
    ['PUBLISH', 'another', 'x'],
    ['SUBSCRIBE', 'another'],
  ]
  for (const [command = '', ...args] of refused) {
    const answer = await attempt(service, command, ...args)
    // A script reports the refusal of its command as an error of its own.
    expect([command, ...args, answer].join(' ')).toMatch(/(NOPERM|ERR)$/)
  }
  const client = new Redis({ path: redis.path })
  expect(await client.keys('*another*')).toEqual([])
  client.disconnect()
})

it.each([
  ['git-api', 'LPUSH', [housekeeping, 'x'], 1],
  ['git-api', 'LPUSH', [delivery, 'x'], 'NOPERM'],
  ['git-api', 'LRANGE', [boundaries, '0', '-1'], 'NOPERM'],
  ['git-api', 'SCAN', ['0'], 'NOPERM'],
  ['admin-broadcast', 'LPUSH', [boundaries, 'x'], 1],
  ['admin-broadcast', 'LPUSH', [delivery, 'x'], 'NOPERM'],
  ['saga-reporter', 'LRANGE', [boundaries, '0', '-1'], 'NOPERM'],
  ['saga-reporter', 'PUBLISH', ['switchyard:saga-events', '{}'], 0],
  ['saga-reporter', 'PUBLISH', ['switchyard:project-events', '{}'], 'NOPERM'],
  ['jobqueue-metrics', 'GET', ['of-another-program'], null],
  ['jobqueue-metrics', 'SET', ['of-another-program', 'x'], 'NOPERM'],
  ['jobqueue-metrics', 'DEL', ['{jq}:{switchyard}:processes'], 'NOPERM'],
  ['worker', 'LPUSH', [delivery, 'x'], 1],
  ['worker', 'GET', ['switchyard:limits:git-api:requests:x'], 'NOPERM'],
] as const)('%s, %s %s: %s', async (service, command, args, answer) => {
  expect(await attempt(service, command, ...args)).toBe(answer)
})

it('the user of an exporter reads the metrics of Redis, and neither keys nor settings', async () => {
  const options = {
    path: redis.path,
    username: 'switchyard_monitoring',
    password: '',
    retryStrategy: () => null,
  }
  const client = new Redis({ ...options, enableReadyCheck: false })
  expect(await client.info('memory')).toContain('maxmemory:')
  for (const [command = '', ...args] of [
    ['GET', delivery],
    ['KEYS', '*'],
    ['CONFIG', 'GET', 'dir'],
    ['FLUSHALL'],
  ])
    await expect(client.call(command, ...args)).rejects.toThrow('NOPERM')
  client.disconnect()
})
