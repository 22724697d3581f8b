import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@switchyard/service-kit/observability'
import { type Redis, ReplyError } from 'ioredis'
import pTimeout from 'p-timeout'
import type { RedisReader } from '../redis/redis-reader.js'
import { SearchNotEnded } from '../sources.js'
import { type WorkerConnection, workerConnectionsOf } from './worker-connections.js'

/** The search for queues and workers without a heartbeat. */
interface Discovery {
  /**
   * Returns the names of queues that the last search found. Waits up to a second for the end of the first
   * search.
   *
   * @throws SearchNotEnded when the first search takes longer, or cannot reach Redis
   */
  queueNames(): Promise<string[]>
  /**
   * Returns workers by their connections; none while Redis refuses CLIENT LIST.
   *
   * @throws Error while Redis is unreachable
   */
  connections(): Promise<WorkerConnection[]>
  stop(): void
}

const searchEveryMs = 10 * 60_000
const firstSearchMs = 1000
/** Delays of retries. A search fails at once while Redis is unreachable, so a retry costs almost nothing. */
const retryMs = { least: 50, most: 1000 }

/** Keys that Redis scans in one call, which takes about a millisecond. A pause for other clients follows. */
const keysPerCall = 1000
const pauseMs = 20

/** Most queues of a search, because reading more for every answer would take too long. */
const queuesMax = 5000

/** Searches at once, then every ten minutes until it is stopped. */
export function createDiscovery(redis: RedisReader, prefix: string, logger: Logger): Discovery {
  const stopping = new AbortController()
  const { signal } = stopping
  let names: string[] | null = null
  let mayListAfterMs = 0

  async function search(): Promise<void> {
    const found = await listQueueNames(redis.servers(), prefix, signal)
    names = found
    if (found.length >= queuesMax) logger.warn({ queuesMax }, 'the source has more queues than are read')
  }

  async function searchUntilStopped(searched: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      let waitMs = searchEveryMs
      try {
        await search()
        failures = 0
        searched()
      } catch (error) {
        failures += 1
        if (isRefusal(error)) {
          warnOfRefusal(error, 'SCAN')
          names ??= []
          searched()
        } else waitMs = Math.min(retryMs.most, retryMs.least * 2 ** failures)
      }
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  const warnOfRefusal = ({ message }: Error, command: string) =>
    logger.warn({ reason: message, command }, 'Redis refuses a command that finds queues; trying again later')

  const firstSearch = new Promise<void>((resolve) => void searchUntilStopped(resolve))
  return {
    async queueNames() {
      if (names === null) await pTimeout(firstSearch, { milliseconds: firstSearchMs, message: false })
      if (names === null) throw new SearchNotEnded('the first search for queues has not ended')
      return names
    },
    async connections() {
      if (performance.now() < mayListAfterMs) return []
      try {
        const lists = await Promise.all(redis.servers().map((server) => server.client('LIST')))
        return lists.flatMap((list) => workerConnectionsOf(String(list), prefix))
      } catch (error) {
        if (!isRefusal(error)) throw error
        mayListAfterMs = performance.now() + searchEveryMs
        warnOfRefusal(error, 'CLIENT LIST')
        return []
      }
    },
    stop: () => stopping.abort(),
  }
}

/** Matches answers of a server that is starting, failing over or busy, or waits for a password. */
const passing = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOAUTH)\b/

/**
 * Returns whether an answer of the server itself is permanent: the user may not run the command, or the
 * server or a proxy does not know it.
 */
const isRefusal = (error: unknown): error is Error =>
  error instanceof ReplyError && !passing.test((error as Error).message)

/** Finds the names of queues by their keys `<prefix>:<name>:meta`, which every version of BullMQ writes. */
async function listQueueNames(servers: Redis[], prefix: string, signal: AbortSignal): Promise<string[]> {
  const pattern = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}:*:meta`
  const names = new Set<string>()
  for (const server of servers) {
    let cursor = '0'
    do {
      const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', keysPerCall)
      for (const key of keys) {
        const name = key.slice(prefix.length + 1, -':meta'.length)
        // BullMQ allows no colon in a name, so such a key belongs to something else.
        if (name !== '' && !name.includes(':') && names.size < queuesMax) names.add(name)
      }
      cursor = next
      if (cursor !== '0') await delay(pauseMs, undefined, { signal, ref: false })
    } while (cursor !== '0' && names.size < queuesMax)
  }
  return [...names]
}
