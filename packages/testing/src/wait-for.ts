import { setTimeout as delay } from 'node:timers/promises'

export interface WaitForOptions {
  timeoutMs?: number
  intervalMs?: number
  /** Ends the sentence "timed out waiting for …". */
  what?: string
}

/**
 * Asks again and again until the condition gives something truthy, and returns that. A condition that throws
 * counts as not met yet; its last error becomes the cause of the time-out.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, intervalMs = 20, what = 'the condition' }: WaitForOptions = {},
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
