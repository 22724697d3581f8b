import { setTimeout as delay } from 'node:timers/promises'

export interface WaitForOptions {
  timeoutMs?: number
  intervalMs?: number
  /** Ends the sentence "timed out waiting for …". */
  what?: string
}

/**
 * Evaluates a condition repeatedly until it returns a truthy value, and returns that value. A condition that throws is not met;
 * its last error becomes the cause of the time-out error.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 20, what = 'the condition' }: WaitForOptions = {},
): Promise<Exclude<T, false | 0 | '' | null | undefined>> {
  const deadline = Date.now() + timeoutMs
  let cause: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value) return value as Exclude<T, false | 0 | '' | null | undefined>
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (Date.now() >= deadline)
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`, { cause })
    await delay(intervalMs)
  }
}
