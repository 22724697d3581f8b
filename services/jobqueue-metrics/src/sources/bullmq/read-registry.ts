import { processTtlSeconds, type RegistryKeys } from '@switchyard/jobs-heartbeat/registry'
import type { RedisReader } from '../redis/redis-reader.js'

/** What workers with a heartbeat write about themselves. */
export interface Registry {
  /** Queues they ever served. */
  names: string[]
  /** Processes with a recent beat. */
  ids: string[]
  /** Attempts ever made. */
  processed: number
  failed: number
  /** The same by queue, as Redis holds them. */
  processedBy: Record<string, string>
  failedBy: Record<string, string>
}

export async function readRegistry(redis: RedisReader, keys: RegistryKeys, nowMs: number): Promise<Registry> {
  const [names, ids, processed, failed, processedBy, failedBy] = (await redis.read([
    ['smembers', keys.queues],
    ['zrangebyscore', keys.processes, nowMs - processTtlSeconds * 1000, '+inf'],
    ['get', keys.processed],
    ['get', keys.failed],
    ['hgetall', keys.processedByQueue],
    ['hgetall', keys.failedByQueue],
  ])) as [string[], string[], string | null, string | null, Record<string, string>, Record<string, string>]
  return { names, ids, processed: Number(processed ?? 0), failed: Number(failed ?? 0), processedBy, failedBy }
}
