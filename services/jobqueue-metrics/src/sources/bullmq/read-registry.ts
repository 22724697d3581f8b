import { processTtlSeconds, type RegistryKeys } from '@switchyard/jobs-heartbeat/registry'
import { ReadCommand } from '../redis/read-command.js'
import type { RedisReader } from '../redis/redis-reader.js'

/** What workers with a heartbeat say about themselves. */
export interface Registry {
  /** Queues they ever served. */
  names: string[]
  /** Processes with a recent beat. */
  ids: string[]
  /** Attempts ever made. */
  processed: number
  failed: number
  /** The same by queue, as Redis holds them. */
  processedBy: ReadonlyMap<string, string>
  failedBy: ReadonlyMap<string, string>
}

export async function readRegistry(redis: RedisReader, keys: RegistryKeys, nowMs: number): Promise<Registry> {
  const [names, ids, processed, failed, processedBy, failedBy] = (await redis.read([
    new ReadCommand('smembers', keys.queues),
    new ReadCommand('zrangebyscore', keys.processes, nowMs - processTtlSeconds * 1000, '+inf'),
    new ReadCommand('get', keys.processed),
    new ReadCommand('get', keys.failed),
    new ReadCommand('hgetall', keys.processedByQueue),
    new ReadCommand('hgetall', keys.failedByQueue),
  ])) as [string[], string[], string | null, string | null, unknown, unknown]
  return {
    names,
    ids,
    processed: Number(processed ?? 0),
    failed: Number(failed ?? 0),
    processedBy: mapOf(processedBy),
    failedBy: mapOf(failedBy),
  }
}

/**
 * Through a pipeline HGETALL answers with a flat list, by its own method with an object. A map finds texts that have
 * just been read faster than an object does.
 */
function mapOf(answer: unknown): Map<string, string> {
  if (!Array.isArray(answer)) return new Map(Object.entries(answer as Record<string, string>))
  const map = new Map<string, string>()
  for (let index = 0; index < answer.length; index += 2) map.set(answer[index], answer[index + 1])
  return map
}
