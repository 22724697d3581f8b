import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { startTestRedis, type TestRedis } from '../src/index.js'

let redis: TestRedis | undefined

afterEach(async () => {
  await redis?.stop()
})

async function withClient<T>(path: string, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({ path, lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    client.disconnect()
  }
}

test('a server listens only on its socket, and only for this user', async () => {
  redis = await startTestRedis()
  expect(redis.url).toBe(`unix://${redis.path}`)
  expect(statSync(dirname(redis.path)).mode & 0o777).toBe(0o700)
  const [, port] = (await withClient(redis.path, (client) => client.config('GET', 'port'))) as string[]
  expect(port).toBe('0')
})

test('an acknowledged write survives a kill', async () => {
  redis = await startTestRedis()
  await withClient(redis.path, (client) => client.set('key', 'value'))
  await redis.kill()
  await expect(withClient(redis.path, (client) => client.ping())).rejects.toThrow()
  await redis.restart()
  expect(await withClient(redis.path, (client) => client.get('key'))).toBe('value')
})

test('stop ends the server and deletes its folder', async () => {
  const { path, stop } = await startTestRedis()
  await stop()
  expect(existsSync(dirname(path))).toBe(false)
})

test('a server that cannot start names the failed program', async () => {
  const program = process.env.SWITCHYARD_TEST_REDIS_SERVER
  process.env.SWITCHYARD_TEST_REDIS_SERVER = '/bin/false'
  try {
    await expect(startTestRedis()).rejects.toThrow(/\/bin\/false did not start/)
  } finally {
    if (program === undefined) delete process.env.SWITCHYARD_TEST_REDIS_SERVER
    else process.env.SWITCHYARD_TEST_REDIS_SERVER = program
  }
})
