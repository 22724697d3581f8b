import { ReplyError } from 'ioredis'
import { pino } from 'pino'
import { afterEach, expect, it, vi } from 'vitest'
import { createRedis, openRedis } from './redis.js'

afterEach(() => vi.useRealTimers())

it('every client gives up a connection without answers, because no network reports that it drops packets', () => {
  const redis = createRedis({ url: 'redis://127.0.0.1:1', onError: () => {}, lazyConnect: true })
  expect(redis.options.socketTimeout).toBe(10_000)
  redis.disconnect()
})

it('failed commands are logged with their own message, once a minute, and outages independent of them', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const lines: string[] = []
  const logger = pino(
    {},
    { write: (line) => lines.push(JSON.parse(line).err?.message ?? JSON.parse(line).msg) },
  )
  const { redis, report } = openRedis('redis://127.0.0.1:1', logger, 'an outage', { lazyConnect: true })
  for (let count = 0; count < 100; count += 1) report.commandFailed(new ReplyError('OOM'))
  report.commandFailed(new Error('Connection is closed.'))
  for (let count = 0; count < 100; count += 1) redis.emit('error', new Error('ECONNREFUSED'))
  redis.emit('ready')
  redis.emit('ready')
  vi.advanceTimersByTime(60_000)
  report.commandFailed(new ReplyError('NOPERM'))
  expect(lines).toEqual(['OOM', 'ECONNREFUSED', 'connected to Redis again', 'NOPERM'])
})
