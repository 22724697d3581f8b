import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type ProcessHash,
  type ProcessInfo,
  processTtlSeconds,
  registryKeys,
} from '@switchyard/contracts/jobs'
import type { Logger } from '@switchyard/service-kit/observability'
import type { ChainableCommander, Redis } from 'ioredis'
import type { JobCounts } from './job-counts.js'

export interface HeartbeatOptions {
  redis: Redis
  logger: Logger
  counts: JobCounts
  queues: string[]
  /** Jobs this process may run at once, over all queues. */
  concurrency: number
  tag: string
}

export interface Heartbeat {
  /** This process takes no more jobs; shown from the next beat on. */
  quiet(): void
  /** Adds the last counts and leaves the registry. */
  stop(): Promise<void>
}

const beatMs = 5000
const forgottenMs = 3_600_000
const dailyTtlSeconds = 5 * 366 * 86_400

/**
 * Keeps this process in the registry of workers: at once, every five seconds, and as soon as Redis is back.
 * Each beat is one MULTI, so nobody ever sees a part of it. Counts that could not be sent wait for the
 * next beat.
 */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { redis, logger, counts, queues } = options
  const info = describeProcess(options)
  let quiet = false
  let rttUs = 0
  let beating: Promise<void> | null = null

  async function beat(): Promise<void> {
    const taken = counts.take()
    const startedNs = process.hrtime.bigint()
    try {
      const multi = addCounts(redis.multi(), taken)
      enrol(multi, info, {
        ...hashOf(info),
        busy: String(counts.busy),
        quiet: String(quiet),
        rtt_us: String(rttUs),
      })
      multi.sadd(registryKeys.queues, ...queues)
      await execute(multi)
      rttUs = Number((process.hrtime.bigint() - startedNs) / 1000n)
    } catch (error) {
      counts.giveBack(taken)
      logger.debug({ err: error }, 'heartbeat did not reach Redis')
    }
  }

  function beatUnlessBeating(): void {
    beating ??= beat().finally(() => {
      beating = null
    })
  }

  redis.on('ready', beatUnlessBeating)
  const timer = setInterval(beatUnlessBeating, beatMs)
  if (redis.status === 'ready') beatUnlessBeating()

  return {
    quiet() {
      quiet = true
      beatUnlessBeating()
    },
    async stop() {
      clearInterval(timer)
      redis.off('ready', beatUnlessBeating)
      await beating
      const multi = addCounts(redis.multi(), counts.take())
      multi.zrem(registryKeys.processes, info.identity).del(registryKeys.process(info.identity))
      // Without Redis the entry runs out by itself.
      await execute(multi).catch((error: unknown) =>
        logger.debug({ err: error }, 'could not leave the registry'),
      )
    },
  }
}

/** The nonce tells this process from an earlier one: in containers the pid is always the same. */
function describeProcess({ queues, concurrency, tag }: HeartbeatOptions): ProcessInfo {
  const host = hostname()
  return {
    hostname: host,
    pid: process.pid,
    tag,
    started_at: (Date.now() - process.uptime() * 1000) / 1000,
    queues,
    labels: [],
    concurrency,
    identity: `${host}:${process.pid}:${randomBytes(6).toString('hex')}`,
  }
}

const hashOf = (info: ProcessInfo) => ({
  info: JSON.stringify(info),
  concurrency: String(info.concurrency),
  beat: String(Date.now() / 1000),
  rss: String(Math.round(process.memoryUsage.rss() / 1024)),
})

function enrol(multi: ChainableCommander, { identity }: ProcessInfo, hash: ProcessHash): void {
  const key = registryKeys.process(identity)
  const now = Date.now()
  multi.zadd(registryKeys.processes, now, identity)
  multi.zremrangebyscore(registryKeys.processes, '-inf', now - forgottenMs)
  multi.hset(key, { ...hash }).expire(key, processTtlSeconds)
}

function addCounts(multi: ChainableCommander, { processed, failed }: ReturnType<JobCounts['take']>) {
  const day = new Date().toISOString().slice(0, 10)
  const daily = [
    [registryKeys.processedOn(day), processed],
    [registryKeys.failedOn(day), failed],
  ] as const
  multi.incrby(registryKeys.processed, processed).incrby(registryKeys.failed, failed)
  for (const [key, count] of daily) multi.incrby(key, count).expire(key, dailyTtlSeconds)
  return multi
}

/** A MULTI answers as a whole, but each command in it may have failed by itself. */
async function execute(multi: ChainableCommander): Promise<void> {
  const results = await multi.exec()
  const failure = results?.find(([error]) => error)?.[0]
  if (failure) throw failure
}
