import { setTimeout as delay } from 'node:timers/promises'

const askEveryMs = 5000
/**
 * Interval of the checks until the first answer, so that a process that hangs right after its start is
 * noticed, too.
 */
const askStartingEveryMs = 500
const failuresMax = 3

export interface LivenessWatch {
  /** Returns whether the process answers within a few seconds. A rejection counts as false. */
  isAlive: () => Promise<boolean>
  /** Called once, after three consecutive checks without an answer. */
  onStalled: () => void
}

/**
 * Checks every five seconds whether a process is alive. A process that has never answered is still starting,
 * so its checks come sooner and do not count. Time in which the machine is suspended does not count.
 *
 * @returns a function that ends the checks
 */
export function watchLiveness({ isAlive, onStalled }: LivenessWatch): () => void {
  const ended = new AbortController()
  void askUntil(ended.signal)
  return () => ended.abort()

  async function askUntil(end: AbortSignal): Promise<void> {
    let failures = 0
    for (let hasAnswered = false; failures < failuresMax; ) {
      await delay(hasAnswered ? askEveryMs : askStartingEveryMs, undefined, {
        signal: end,
        ref: false,
      }).catch(() => {})
      const alive = !end.aborted && (await isAlive().catch(() => false))
      if (end.aborted) return
      hasAnswered ||= alive
      failures = alive || !hasAnswered ? 0 : failures + 1
    }
    onStalled()
  }
}
