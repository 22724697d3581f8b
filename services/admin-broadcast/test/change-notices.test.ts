import { redisUserOf } from '@switchyard/contracts/redis'
import { systemClock } from '@switchyard/domain'
import { createLogger } from '@switchyard/service-kit/observability'
import { createRedis } from '@switchyard/service-kit/redis'
import { startTestRedis, type TestRedis, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createChangeNotices } from '../src/live/change-notices.js'
import { MessageBoard } from '../src/live/message-board.js'

let redis: TestRedis
beforeAll(async () => {
  redis = await startTestRedis()
})
afterAll(() => redis?.stop())

it.each(['publish', 'subscribe'])(
  'says that Redis refuses to %s, and reports an outage after that',
  async (command) => {
    const administrator = createRedis({ url: redis.url, onError: () => {}, enableOfflineQueue: true })
    await administrator.acl('SETUSER', redisUserOf('admin-broadcast'), `-${command}`)
    const logger = createLogger('test', 'silent')
    const warned = vi.spyOn(logger, 'warn')
    const board = new MessageBoard({ load: async () => [], clock: systemClock, logger })
    const changeNotices = createChangeNotices({
      redisUrl: redis.urlOf('admin-broadcast'),
      board,
      clock: systemClock,
      logger,
    })
    await waitFor(
      async () => {
        await changeNotices.announce()
        return warned.mock.calls.length > 0
      },
      { what: 'a log line' },
    )
    const refused = { err: expect.objectContaining({ message: expect.stringMatching(/^NOPERM/) }) }
    expect(warned.mock.calls).toEqual([[refused, 'a Redis command failed']])

    await redis.kill()
    await waitFor(() => warned.mock.calls.length > 2, { what: 'the lines of the outage' })
    expect(warned.mock.calls.slice(1).map(([, message]) => message)).toEqual([
      expect.stringMatching(/^no connection to Redis: /),
      expect.stringMatching(/^no connection to Redis: /),
    ])
    await changeNotices.close()
    board.close()
    administrator.disconnect()
    await redis.restart()
  },
)

it('reads the table once, and answers from memory again, when the database is back after a failed read', async () => {
  let reads = 0
  let isAway = true
  const load = async () => {
    reads += 1
    if (isAway) throw new Error('the database is away')
    return []
  }
  const logger = createLogger('test', 'silent')
  const board = new MessageBoard({ load, clock: systemClock, logger })
  const redisUrl = redis.urlOf('admin-broadcast')
  const changeNotices = createChangeNotices({ redisUrl, board, clock: systemClock, logger })
  await waitFor(() => reads > 0, { what: 'the read at the beginning of the subscription' })
  isAway = false

  const before = reads
  for (let question = 0; question < 3; question += 1) await board.active()
  expect(reads).toBe(before + 1)
  await changeNotices.close()
  board.close()
})
