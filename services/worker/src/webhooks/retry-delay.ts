/** Most attempts. The last one follows about a day after the first one. */
export const attemptsMax = 10

const firstDelayMs = 30_000
const delayMsMax = 6 * 3_600_000

/**
 * Returns the delay after a failed attempt: 30 s, tripled with each further failure up to six hours, and
 * varied by up to 20 % at random, so that deliveries that failed together are not repeated together.
 *
 * @param attempts number of attempts so far, at least 1
 * @param random returns a number from 0 to 1
 * @returns milliseconds; null after the last attempt
 */
export function retryDelayMs(attempts: number, random: () => number = Math.random): number | null {
  if (attempts >= attemptsMax) return null
  const delayMs = Math.min(firstDelayMs * 3 ** (attempts - 1), delayMsMax)
  return Math.round(delayMs * (0.8 + 0.4 * random()))
}

/**
 * Returns the pause that a receiver asks for by `Retry-After`, in seconds or as a date, up to six hours. A
 * date is compared with the receiver's own clock when it sends its `Date`.
 *
 * @returns milliseconds; null without a pause, and for an unreadable text
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: Date): number | null {
  const text = headers['retry-after']?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateMs(text) - (dateMs(headers.date) || now.getTime())
  return ms > 0 ? Math.min(ms, delayMsMax) : null
}

/** Parses a date of HTTP; NaN for another text. */
const dateMs = (text = ''): number => (/^\w+, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN)
