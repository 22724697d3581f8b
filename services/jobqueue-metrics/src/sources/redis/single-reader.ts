import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { ChainableCommander, Redis } from 'ioredis'
import type { RedisReader } from './redis-reader.js'
import { scanHashesOf } from './scan-hashes.js'

/** Commands written down without a pause; more would hold up other requests. */
const chunkLength = 1000

/** Reads one server, found directly or by Sentinel, with explicit pipelines. */
export function createSingleReader(redis: Redis): RedisReader {
  let scriptsRefused = false
  // After a reconnection it may be another server, or another user's rights.
  redis.on('ready', () => {
    scriptsRefused = false
  })

  return {
    read: (commands) =>
      inChunks(redis, commands, (pipeline, [name, ...args]) => pipeline.call(name, ...args)),
    async readByScript(script, calls) {
      if (scriptsRefused) return null
      try {
        // The server knows the script from its first run on, the others name it only.
        return await inChunks(redis, calls, (pipeline, call, index) => {
          if (index === 0) pipeline.call('EVAL_RO', script.lua, 1, ...call)
          else pipeline.call('EVALSHA_RO', script.sha, 1, ...call)
        })
      } catch (error) {
        if (!isRefusal(error)) throw error
        scriptsRefused = true
        return null
      }
    },
    async clientList() {
      return String(await redis.client('LIST')).split('\n')
    },
    scanHashes: (pattern) => scanHashesOf(redis, pattern),
    close: () => redis.disconnect(),
  }
}

/** Pipelines follow each other without waiting for answers, so all of them are one round trip. */
async function inChunks<T>(
  redis: Redis,
  items: readonly T[],
  add: (pipeline: ChainableCommander, item: T, index: number) => void,
): Promise<unknown[]> {
  const answers: Promise<unknown[]>[] = []
  for (let start = 0; start < items.length; start += chunkLength) {
    if (start > 0) await yieldToOthers()
    const pipeline = redis.pipeline()
    items.slice(start, start + chunkLength).forEach((item, index) => {
      add(pipeline, item, start + index)
    })
    const chunk = answersOf(pipeline)
    // Whoever awaits them below learns of it; until then a failure is nobody's.
    chunk.catch(() => {})
    answers.push(chunk)
  }
  return (await Promise.all(answers)).flat(1)
}

async function answersOf(pipeline: ChainableCommander): Promise<unknown[]> {
  const results = (await pipeline.exec()) ?? []
  return results.map(([error, answer]) => {
    if (error) throw error
    return answer
  })
}

/** The user may not, or the server is older than these commands. */
const isRefusal = (error: unknown) =>
  error instanceof Error && /^NOPERM|unknown command|^ERR unknown/i.test(error.message)
