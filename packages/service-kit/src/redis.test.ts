import { expect, it } from 'vitest'
import { createRedis } from './redis.js'

it('every client gives up a connection on which answers do not come, because no network says that it swallows packets', () => {
  const redis = createRedis({ url: 'redis://127.0.0.1:1', onError: () => {}, lazyConnect: true })
  expect(redis.options.socketTimeout).toBe(10_000)
  redis.disconnect()
})
