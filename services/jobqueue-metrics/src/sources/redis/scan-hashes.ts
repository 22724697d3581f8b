import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'

const countPerCall = 1000
/** Lets the server do its work between two calls. */
const pauseMs = 20

/** Names of hashes that match a pattern; takes as long as the server has keys. */
export async function scanHashesOf(redis: Redis, pattern: string): Promise<string[]> {
  const found = new Set<string>()
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', countPerCall, 'TYPE', 'hash')
    for (const key of keys) found.add(key)
    cursor = next
    if (cursor !== '0') await delay(pauseMs)
  } while (cursor !== '0')
  return [...found]
}
