import { setTimeout as delay } from 'node:timers/promises'

export interface Repeated {
  /** Resolves when the work under way has ended. */
  close(): Promise<void>
}

/**
 * Does `work` again and again, `pauseMs` after its end, until it is closed.
 *
 * @param work gets a signal that is aborted when it is closed
 * @param onFailure gets what the work rejects with, but not once it is closed
 */
export function repeat(
  work: (signal: AbortSignal) => Promise<void>,
  pauseMs: number,
  onFailure: (error: unknown) => void,
): Repeated {
  const closing = new AbortController()
  const { signal } = closing

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await work(signal).catch((error: unknown) => {
        if (!signal.aborted) onFailure(error)
      })
      await delay(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
