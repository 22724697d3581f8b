import { redisUserOf } from '@switchyard/contracts/redis'
import type { CommittedBatch } from '@switchyard/saga-store'
import { createRedis } from '@switchyard/service-kit/redis'
import { startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNotices } from '../../src/live/live.js'

let redis: TestRedis
beforeAll(async () => {
  redis = await startTestRedis()
})
afterAll(() => redis?.stop())

it('notices are received once Redis permits the subscription', async () => {
  const lines: { msg: string }[] = []
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) })
  const administrator = createRedis({ url: redis.url, onError: () => {}, enableOfflineQueue: true })
  await administrator.acl('SETUSER', redisUserOf('saga-reporter'), '-subscribe')
  let received = 0
  const onNotice = () => {
    received += 1
  }
  const notices = createNotices({ redisUrl: redis.urlOf('saga-reporter'), onNotice, logger })
  await waitFor(() => lines.length > 0, { what: 'a log line' })
  expect(lines[0]?.msg).toBe('a Redis command failed')

  await administrator.acl('SETUSER', redisUserOf('saga-reporter'), '+subscribe')
  administrator.disconnect()
  const before = received
  await waitFor(
    () => {
      notices.publish({ tenants: ['default'], to: '1' })
      return received > before + 1
    },
    { what: 'a notice' },
  )
  notices.close()
})

it('the log has the reason why Redis refuses a notice, and a later outage', async () => {
  const lines: { msg: string; err?: { message: string } }[] = []
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) })
  let received = 0
  const onNotice = () => {
    received += 1
  }
  const notices = createNotices({ redisUrl: redis.urlOf('saga-reporter'), onNotice, logger })
  const batch: CommittedBatch = { tenants: ['default'], to: '1' }
  await waitFor(
    () => {
      notices.publish(batch)
      return received > 1
    },
    { what: 'a notice' },
  )

  const administrator = createRedis({ url: redis.url, onError: () => {}, enableOfflineQueue: true })
  await administrator.acl('SETUSER', redisUserOf('saga-reporter'), '-publish')
  administrator.disconnect()
  notices.publish(batch)
  await waitFor(() => lines.length > 0, { what: 'a log line' })
  expect(lines[0]).toMatchObject({
    msg: 'a Redis command failed',
    err: { message: expect.stringMatching(/^NOPERM/) },
  })

  await redis.kill()
  await waitFor(() => lines.length > 2, { what: 'the lines of the outage' })
  expect(
    lines
      .slice(1)
      .map(({ msg }) => msg)
      .sort(),
  ).toEqual([
    'no connection to Redis: other replicas find the saga events of this one up to a second late',
    'no connection to Redis: this replica finds the saga events of others up to a second late',
  ])
  await redis.restart()
  await waitFor(() => lines.filter(({ msg }) => msg === 'connected to Redis again').length === 2, {
    what: 'the lines of the end of the outage',
  })
  notices.close()
})
