import { Wakeup } from './wakeup.js'

export interface Repeated {
  /** Ends the current pause; during a run, the next run begins without a pause. */
  wake(): void
  /** Resolves when the current run has ended. */
  close(): Promise<void>
}

/**
 * Runs `work` repeatedly, `pauseMs` after the end of each run, until it is closed.
 *
 * @param work receives a signal that is aborted on `close`
 * @param onFailure receives the errors of the work, but none after `close`
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
