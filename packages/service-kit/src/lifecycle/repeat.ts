import { Wakeup } from './wakeup.js'

export interface Repeated {
  /** Does the work now instead of after the pause; after work that is under way, without a pause. */
  wake(): void
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
  const pause = new Wakeup()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await work(signal).catch((error: unknown) => {
        if (!signal.aborted) onFailure(error)
      })
      await pause.wait(pauseMs, signal)
    }
  }

  const running = run()
  return {
    wake: () => pause.wake(),
    async close() {
      closing.abort()
      await running
    },
  }
}
