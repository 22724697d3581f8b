const firstDelayMs = 250
const lastDelayMs = 30_000
const settledAfterMs = 30_000

/**
 * Longest pause of a process that has answered before. It is short because such a process can start, and
 * because it is needed.
 */
const lastDelayOfAnsweringMs = 1000

/**
 * Returns the milliseconds to wait before restart number `failures` (1 for the first crash in a row).
 *
 * @param hasAnswered the process had answered before it ended
 */
export function restartDelayMs(failures: number, hasAnswered: boolean): number {
  const delayMs = firstDelayMs * 2 ** Math.max(failures - 1, 0)
  return Math.min(delayMs, hasAnswered ? lastDelayOfAnsweringMs : lastDelayMs)
}

/**
 * Returns the number of consecutive crashes after another one. A process that ran for half a minute starts
 * again at 1.
 */
export function countFailure(failuresBefore: number, ranForMs: number): number {
  return ranForMs >= settledAfterMs ? 1 : failuresBefore + 1
}
