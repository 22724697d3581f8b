const firstDelayMs = 250
const lastDelayMs = 30_000
const settledAfterMs = 30_000

/** Milliseconds to wait before restart number `failures` (1 for the first crash in a row). */
export function restartDelayMs(failures: number): number {
  return Math.min(firstDelayMs * 2 ** Math.max(failures - 1, 0), lastDelayMs)
}

/** The number of consecutive crashes after another one. A process that ran for half a minute starts again at 1. */
export function countFailure(failuresBefore: number, ranForMs: number): number {
  return ranForMs >= settledAfterMs ? 1 : failuresBefore + 1
}
