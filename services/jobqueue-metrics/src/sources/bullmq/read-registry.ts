import { processTtlSeconds, type RegistryKeys } from '@switchyard/jobs-heartbeat/registry'
import type { RedisReader } from '../redis/redis-reader.js'

/** The data that workers with a heartbeat write about themselves. */
export interface Registry {
  /** Queues that they have ever served. */
  names: string[]
  /** The last beat of each process in the last hour, by the clock of Redis. */
  beats: { id: string; atMs: number }[]
  /** Total of attempts. */
  processed: number
  failed: number
  /** The totals by queue, as Redis stores them. */
  processedBy: Record<string, string>
  failedBy: Record<string, string>
}

export async function readRegistry(redis: RedisReader, keys: RegistryKeys): Promise<Registry> {
  const [names, beats, processed, failed, processedBy, failedBy] = (await redis.read([
    ['smembers', keys.queues],
    ['zrangebyscore', keys.processes, '-inf', '+inf', 'WITHSCORES'],
    ['get', keys.processed],
    ['get', keys.failed],
    ['hgetall', keys.processedByQueue],
    ['hgetall', keys.failedByQueue],
  ])) as [string[], string[], string | null, string | null, Record<string, string>, Record<string, string>]
  return {
    names,
    beats: pairsOf(beats),
    processed: Number(processed ?? 0),
    failed: Number(failed ?? 0),
    processedBy,
    failedBy,
  }
}

/** Returns the ids of the processes whose last beat is recent enough. */
export const beatingIds = ({ beats }: Registry, nowMs: number): string[] =>
  beats.filter(({ atMs }) => atMs >= nowMs - processTtlSeconds * 1000).map(({ id }) => id)

/** Returns members with their scores, which alternate in Redis' answer. */
function pairsOf(answer: readonly string[]): Registry['beats'] {
  return Array.from({ length: answer.length / 2 }, (_each, index) => ({
    id: answer[index * 2] ?? '',
    atMs: Number(answer[index * 2 + 1]),
  }))
}
