import { setTimeout as delay } from 'node:timers/promises'
import type { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import pTimeout from 'p-timeout'

interface CloseWorkersOptions {
  workers: Worker[]
  /** Aborted here when running jobs must stop. */
  stopping: AbortController
  /** Time for which running jobs may continue before they return to their queues. */
  graceMs: number
  /** See {@link watchOutage}. */
  redisOutageMs: () => number
}

/** Time limit for returning jobs to their queues. */
const giveBackMs = 1000
/**
 * Outage of Redis after which workers close without it, even when it began long before. Another worker later
 * finds the unfinished jobs stalled.
 */
const redisOutageMsMax = 1000
const disconnectMs = 500

/**
 * Takes no more jobs, and finishes the running ones or returns them to their queues. Without Redis, neither
 * is possible, so it does not wait.
 */
export async function closeWorkers(options: CloseWorkersOptions): Promise<void> {
  const { workers, stopping, graceMs } = options
  const over = new AbortController()
  const giveBack = () => stopping.abort(new Error('the worker stops'))
  const timer = setTimeout(giveBack, graceMs)
  const closed = Promise.all(workers.map((worker) => worker.close())).then(() => true)
  const unreachable = redisIsUnreachable(options.redisOutageMs, over.signal)
  const areClosed = await pTimeout(Promise.race([closed, unreachable]), {
    milliseconds: graceMs + giveBackMs,
    message: false,
  })
  over.abort()
  clearTimeout(timer)
  if (areClosed) return
  giveBack()
  const disconnected = Promise.allSettled(workers.map((worker) => worker.disconnect()))
  // A lost connection never reports its end.
  if (areClosed === undefined) await pTimeout(disconnected, { milliseconds: disconnectMs, message: false })
}

/** Returns for how long a client has had no connection; 0 while it has one. */
export function watchOutage(redis: Redis): () => number {
  let lostAtMs = redis.status === 'ready' ? null : performance.now()
  redis.on('close', () => {
    lostAtMs ??= performance.now()
  })
  redis.on('ready', () => {
    lostAtMs = null
  })
  return () => (lostAtMs === null ? 0 : performance.now() - lostAtMs)
}

/**
 * Resolves, with false, once Redis has been unreachable for `redisOutageMsMax` without a break; rejects when
 * the signal aborts.
 */
async function redisIsUnreachable(outageMs: () => number, signal: AbortSignal): Promise<false> {
  while (outageMs() < redisOutageMsMax) await delay(50, undefined, { signal })
  return false
}
