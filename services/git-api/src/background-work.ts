import { setTimeout as delay } from 'node:timers/promises'

/** Work that requests start and that goes on after their answers. */
export interface BackgroundWork {
  /** Starts work that never rejects; `close` waits for it. */
  run(work: Promise<void>): void
  /**
   * Waits before work is tried again. When the service stops, the wait ends at once so that the work has one
   * last attempt. Rejects when the service has already stopped, and when over a thousand pieces of work run.
   */
  waitBeforeRetry(): Promise<void>
  close(): Promise<void>
}

const pauseMs = 1000
const runningMax = 1000

export function createBackgroundWork(): BackgroundWork {
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  return {
    run(work) {
      running.add(work)
      void work.then(() => running.delete(work))
    },
    async waitBeforeRetry() {
      if (running.size > runningMax) throw new Error('too much work waits for a retry')
      stopping.signal.throwIfAborted()
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    },
    async close() {
      stopping.abort(new Error('the service stops'))
      await Promise.all(running)
    },
  }
}
