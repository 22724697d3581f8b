import { setTimeout as delay } from 'node:timers/promises'

/** Work of requests that goes on after their answers. */
export interface BackgroundWork {
  /** Registers work that never rejects; `close` waits for it. */
  run(work: Promise<void>): void
  /**
   * Waits before work is tried again; a service that stops waits no longer, for one last try. Rejects after
   * that, and when too much goes on already.
   */
  waitBeforeRetry(): Promise<void>
  close(): Promise<void>
}

const pauseMs = 1000
const goingOnMax = 1000

export function createBackgroundWork(): BackgroundWork {
  const goingOn = new Set<Promise<void>>()
  const stopping = new AbortController()
  return {
    run(work) {
      goingOn.add(work)
      void work.then(() => goingOn.delete(work))
    },
    async waitBeforeRetry() {
      if (goingOn.size > goingOnMax) throw new Error('too much work waits for another try')
      stopping.signal.throwIfAborted()
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    },
    async close() {
      stopping.abort(new Error('the service stops'))
      await Promise.all(goingOn)
    },
  }
}
