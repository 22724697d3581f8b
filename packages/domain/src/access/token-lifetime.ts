const msPerDay = 86_400_000

/** When a token was made and on which day it works last; days are midnights in UTC. */
export interface TokenLifetime {
  createdAt: Date
  /** Null: the token never expires. */
  expiresAt: Date | null
}

/** Whether the last day of a token is over. */
export const hasExpired = (lastDay: Date | null, now: Date): boolean =>
  lastDay !== null && lastDay.getTime() + msPerDay <= now.getTime()

/** The last day of a token that takes the place of another one today and lives as many days as that one was given. */
export function lastDayAfterRotation({ createdAt, expiresAt }: TokenLifetime, now: Date): Date | null {
  if (expiresAt === null) return null
  return new Date(startOfDay(now).getTime() + expiresAt.getTime() - startOfDay(createdAt).getTime())
}

/** The earlier of two last days; null, which is no end, comes after every day. */
export function earlierDay(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

/** `2030-12-31`. */
export const dayText = (day: Date): string => day.toISOString().slice(0, 10)

/** Midnight in UTC before a time. */
export const startOfDay = (time: Date): Date => new Date(Math.floor(time.getTime() / msPerDay) * msPerDay)

/**
 * What is wrong with the last day that somebody asks for; null when nothing is.
 *
 * @param latest the last day that the rules allow; null: any
 */
export function lastDayProblem(asked: Date | null, latest: Date | null, now: Date): string | null {
  if (hasExpired(asked, now)) return 'must be today or later'
  const isLater = latest !== null && (asked === null || asked > latest)
  return isLater ? `must be ${dayText(latest)} or earlier` : null
}
