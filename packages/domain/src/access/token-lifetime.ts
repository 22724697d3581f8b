import { dayMs } from '../clock.js'

/** Creation time and last valid day of a token. The day is given by its midnight in UTC. */
export interface TokenLifetime {
  createdAt: Date
  /** Null: the token never expires. */
  expiresAt: Date | null
}

/** Returns whether the last valid day of a token is over. */
export const hasExpired = (lastDay: Date | null, now: Date): boolean =>
  lastDay !== null && lastDay.getTime() + dayMs <= now.getTime()

/** Returns the last day of a token that replaces another one today, with the same lifetime. */
export function lastDayAfterRotation({ createdAt, expiresAt }: TokenLifetime, now: Date): Date | null {
  if (expiresAt === null) return null
  return new Date(startOfDay(now).getTime() + expiresAt.getTime() - startOfDay(createdAt).getTime())
}

/** Formats a day as `2030-12-31`. */
export const dayText = (day: Date): string => day.toISOString().slice(0, 10)

/** Returns midnight in UTC at the beginning of the day of a time. */
export const startOfDay = (time: Date): Date => new Date(Math.floor(time.getTime() / dayMs) * dayMs)

/** Returns the end of the last valid day of a token. */
export const endOfDay = (day: Date): Date => new Date(startOfDay(day).getTime() + dayMs)

/**
 * Returns the problem of a requested last day; null when it is valid.
 *
 * @param latest latest day that the rules allow; null: every day is allowed
 */
export function lastDayProblem(asked: Date | null, latest: Date | null, now: Date): string | null {
  if (hasExpired(asked, now)) return 'must be today or later'
  const isLater = latest !== null && (asked === null || asked > latest)
  return isLater ? `must be ${dayText(latest)} or earlier` : null
}

/**
 * Returns the problem of the day at whose beginning a membership ends; null when there is none. Today is
 * allowed, as in GitLab: such a membership has already ended.
 */
export const membershipEndProblem = (end: Date | null, now: Date): string | null =>
  end !== null && end < startOfDay(now) ? 'cannot be a date in the past' : null

/** Returns the earlier of two last days. Null stands for no end, so every day is earlier than null. */
export function earlierDay(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}
