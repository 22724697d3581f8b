import type { Logger } from '@switchyard/service-kit/observability'
import type { RedisReader } from '../redis/redis-reader.js'

/** Names of queues found among all keys; empty until the first search is over. */
export interface ScannedNames {
  current(): string[]
  stop(): void
}

/**
 * Searches for queues now and then, in the background: a search takes as long as Redis has keys. One that fails is
 * tried again soon, then later and later.
 */
export function scanNames(redis: RedisReader, prefix: string, minutes: number, logger: Logger): ScannedNames {
  const pattern = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}:*:meta`
  let names: string[] = []
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function search(): Promise<void> {
    try {
      const keys = await redis.scanHashes(pattern)
      // Neither prefix nor suffix are part of the name, which has no colon of its own.
      names = keys.map((key) => key.slice(prefix.length + 1, -':meta'.length)).filter(isQueueName)
      failures = 0
    } catch (error) {
      failures += 1
      logger.debug({ err: error }, 'could not search for queues')
    }
  }

  function plan(afterMs: number): void {
    timer = setTimeout(() => {
      void search().then(() => {
        if (!stopped) plan(Math.min(minutes * 60_000, failures > 0 ? 1000 * 2 ** failures : Infinity))
      })
    }, afterMs).unref()
  }
  plan(0)
  return {
    current: () => names,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

const isQueueName = (name: string) => name !== '' && !name.includes(':')
