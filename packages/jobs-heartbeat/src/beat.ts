import type { RedisConnection, Transaction } from './connect.js'
import type { QueueCounts } from './job-counts.js'
import {
  type ProcessHash,
  type ProcessInfo,
  processTtlSeconds,
  type RegistryKeys,
  redisTimeMs,
} from './registry.js'

const forgottenMs = 3_600_000
/**
 * Lifetime of the counts by day, which are for reports of the users of this package. Switchyard itself does
 * not read them.
 */
const dailyTtlSeconds = 5 * 366 * 86_400

/** The changing data of a process. */
export interface ProcessState {
  busy: number
  quiet: boolean
  /** Duration of the previous beat. */
  rttUs: number
}

/**
 * Writes the beat of a process and adds its counts in one transaction.
 *
 * @throws Error when a command fails
 */
export async function sendBeat(
  redis: RedisConnection,
  keys: RegistryKeys,
  info: ProcessInfo,
  state: ProcessState,
  counts: Map<string, QueueCounts>,
): Promise<void> {
  const nowMs = await timeMs(redis)
  const multi = addCounts(redis.multi(), keys, counts)
  multi.zadd(keys.processes, nowMs, info.identity)
  multi.zremrangebyscore(keys.processes, '-inf', nowMs - forgottenMs)
  multi.hset(keys.process(info.identity), { ...hashOf(info, state, nowMs) })
  multi.expire(keys.process(info.identity), processTtlSeconds)
  multi.sadd(keys.queues, ...info.queues)
  await execute(multi)
}

/**
 * Adds the last counts of a process and removes it from the registry.
 *
 * @throws Error when a command fails
 */
export async function sendFarewell(
  redis: RedisConnection,
  keys: RegistryKeys,
  { identity }: ProcessInfo,
  counts: Map<string, QueueCounts>,
): Promise<void> {
  const multi = addCounts(redis.multi(), keys, counts)
  multi.zrem(keys.processes, identity).del(keys.process(identity))
  await execute(multi)
}

/**
 * Returns the time of Redis. The clock of this process is not used alone, because a beat of a slow clock
 * would look like that of a dead process.
 */
const timeMs = async (redis: RedisConnection): Promise<number> =>
  redisTimeMs(await redis.info('server').catch(() => '')) ?? Date.now()

const hashOf = (info: ProcessInfo, state: ProcessState, nowMs: number): ProcessHash => ({
  info: JSON.stringify(info),
  busy: String(state.busy),
  concurrency: String(info.concurrency),
  beat: String(nowMs / 1000),
  quiet: String(state.quiet),
  rss: String(Math.round(process.memoryUsage.rss() / 1024)),
  rtt_us: String(state.rttUs),
})

function addCounts(multi: Transaction, keys: RegistryKeys, counts: Map<string, QueueCounts>): Transaction {
  const total = (part: keyof QueueCounts) => [...counts.values()].reduce((sum, each) => sum + each[part], 0)
  const day = new Date().toISOString().slice(0, 10)
  multi.incrby(keys.processed, total('processed')).incrby(keys.failed, total('failed'))
  multi.incrby(keys.processedOn(day), total('processed')).expire(keys.processedOn(day), dailyTtlSeconds)
  multi.incrby(keys.failedOn(day), total('failed')).expire(keys.failedOn(day), dailyTtlSeconds)
  for (const [queue, { processed, failed }] of counts) {
    multi.hincrby(keys.processedByQueue, queue, processed).hincrby(keys.failedByQueue, queue, failed)
  }
  return multi
}

/**
 * Runs a transaction and throws the error of its first failed command, because the transaction itself
 * succeeds then.
 */
async function execute(multi: Transaction): Promise<void> {
  const results = await multi.exec()
  const failure = results?.find(([error]) => error)?.[0]
  if (failure) throw failure
}
