/** Attempts in all; the last one comes about a day after the first. */
export const attemptsMax = 10

const firstDelayMs = 30_000
const delayMsMax = 6 * 3_600_000

/**
 * How long to wait after an attempt that failed: 30 s, tripled by each further failure up to six hours, and up to
 * a fifth more or less, so that what failed together does not come back together.
 *
 * @param attempts made so far, at least 1
 * @param random from 0 up to 1
 * @returns milliseconds; null when nothing is left to try
 */
export function retryDelayMs(attempts: number, random: () => number = Math.random): number | null {
  if (attempts >= attemptsMax) return null
  const delayMs = Math.min(firstDelayMs * 3 ** (attempts - 1), delayMsMax)
  return Math.round(delayMs * (0.8 + 0.4 * random()))
}
