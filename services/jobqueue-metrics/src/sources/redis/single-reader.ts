import type { Redis } from 'ioredis'
import { inParts } from '../in-parts.js'
import { createPipelines } from './pipelines.js'
import type { RedisReader } from './redis-reader.js'
import { encodeCommand } from './resp.js'
import { scanHashesOf } from './scan-hashes.js'

/** Commands written down without a pause; more would hold up other requests. */
const chunkLength = 1000

/**
 * Reads one server, found directly or by Sentinel.
 *
 * @param timeoutMs how long it may be silent while something is asked of it
 */
export function createSingleReader(redis: Redis, timeoutMs: number, onReady: () => void): RedisReader {
  const pipelines = createPipelines(redis, timeoutMs, onReady)
  const ask = async (...command: (string | number)[]) => (await pipelines.send([encodeCommand(command)]))[0]
  return {
    /** Pipelines follow each other without waiting for answers, so all of them are one round trip. */
    read: (commands) =>
      inParts(commands, chunkLength, (part) => pipelines.send(part.map((command) => command.encoded()))),
    async clientList() {
      return String(await ask('CLIENT', 'LIST')).split('\n')
    },
    scanHashes: (pattern) => scanHashesOf((...command) => ask('SCAN', ...command), pattern),
    close: () => redis.disconnect(),
  }
}
