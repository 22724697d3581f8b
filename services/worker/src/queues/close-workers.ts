import { setTimeout as delay } from 'node:timers/promises'
import type { Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import pTimeout from 'p-timeout'

interface CloseWorkersOptions {
  workers: Worker[]
  /** Aborted here when jobs that still run have to stop. */
  stopping: AbortController
  /** How long running jobs may continue; then they go back to their queues. */
  graceMs: number
  /** See {@link watchOutage}. */
  redisOutageMs: () => number
}

/** How long it may take to give jobs back. */
const giveBackMs = 1000
/**
 * Once Redis is away for this time, which may have begun long before, workers close without it: another
 * worker finds the unfinished jobs stalled later.
 */
const redisOutageMsMax = 1000
const disconnectMs = 500

/**
 * Takes no more jobs; finishes the running ones or gives them back. Without Redis neither is possible nor
 * waited for.
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
  // A connection that is lost never says that it has ended.
  if (areClosed === undefined) await pTimeout(disconnected, { milliseconds: disconnectMs, message: false })
}

/** How long a client has been without a connection, from now on; 0 while it has one. */
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
