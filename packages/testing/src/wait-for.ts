import { setTimeout as delay } from 'node:timers/promises'

export interface WaitForOptions {
  timeoutMs?: number
  intervalMs?: number
  /** End of the sentence "timed out waiting for …". */
  what?: string
}

/**
 * Asks until a condition holds. It has to hold for every question more than a second after `sinceMs`. The
 * time of an answer does not matter, because a busy machine answers late.
 *
 * @param sinceMs as `performance.now()` returns it
 */
export async function holdsWithinASecond(
  holds: () => Promise<boolean>,
  sinceMs = performance.now(),
): Promise<void> {
  for (;;) {
    const askedAfterMs = performance.now() - sinceMs
    if (await holds()) return
    if (askedAfterMs > 1000) throw new Error(`it does not hold ${Math.round(askedAfterMs)} ms later`)
    await delay(5)
  }
}

/**
 * Measures the lateness of this process.
 *
 * @returns by how many milliseconds this process is late for an instant: a few, and more the busier the
 * machine is
 */
export async function latenessAt(instant: Date): Promise<number> {
  await delay(Math.max(0, instant.getTime() - Date.now()))
  return Date.now() - instant.getTime()
}

/**
 * Evaluates a condition repeatedly until it returns a truthy value, and returns that value. A condition that
 * throws is not met; its last error becomes the cause of the time-out error.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 300_000, intervalMs = 20, what = 'the condition' }: WaitForOptions = {},
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
