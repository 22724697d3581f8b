import { setTimeout as delay } from 'node:timers/promises'

const askEveryMs = 5000
const failuresMax = 3

export interface LivenessWatch {
  /** Whether the process answers; takes a few seconds at most. A rejection counts as no. */
  isAlive: () => Promise<boolean>
  /** Called once, after three questions in a row without an answer. */
  onStalled: () => void
}

/**
 * Asks a process every five seconds whether it is alive, and tells when it no longer answers. A process that has never
 * answered is still starting and is left alone. The clock of the waiting stands still while the machine is suspended.
 *
 * @returns what ends the asking
 */
export function watchLiveness({ isAlive, onStalled }: LivenessWatch): () => void {
  const ended = new AbortController()
  void askUntil(ended.signal)
  return () => ended.abort()

  async function askUntil(end: AbortSignal): Promise<void> {
    let failures = 0
    for (let hasAnswered = false; failures < failuresMax; ) {
      await delay(askEveryMs, undefined, { signal: end, ref: false }).catch(() => {})
      const alive = !end.aborted && (await isAlive().catch(() => false))
      if (end.aborted) return
      hasAnswered ||= alive
      failures = alive || !hasAnswered ? 0 : failures + 1
    }
    onStalled()
  }
}
