import type { Logger } from '@switchyard/service-kit/observability'
import type { RedisReader } from '../redis/redis-reader.js'

/** Names of queues found among all keys; empty until the first search is over. */
export interface ScannedNames {
  current(): string[]
  stop(): void
}

/** Searches for queues now and then, in the background: a search takes as long as Redis has keys. */
export function scanNames(redis: RedisReader, prefix: string, minutes: number, logger: Logger): ScannedNames {
  let names: string[] = []
  async function search(): Promise<void> {
    try {
      const keys = await redis.scanHashes(`${prefix.replace(/[*?[\]\\]/g, '\\$&')}:*:meta`)
      // Neither prefix nor suffix are part of the name, which has no colon of its own.
      names = keys.map((key) => key.slice(prefix.length + 1, -':meta'.length)).filter(isQueueName)
    } catch (error) {
      logger.warn({ err: error }, 'could not search for queues')
    }
  }
  void search()
  const timer = setInterval(() => void search(), minutes * 60_000).unref()
  return { current: () => names, stop: () => clearInterval(timer) }
}

const isQueueName = (name: string) => name !== '' && !name.includes(':')
