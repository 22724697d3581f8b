/** Null while one of the times is missing. */
export const secondsBetween = (from: Date | null, to: Date | null) =>
  from && to ? (to.getTime() - from.getTime()) / 1000 : null

/** GitLab's clients take no fraction in the durations of a pipeline. */
export function wholeSeconds(from: Date | null, to: Date | null): number | null {
  const seconds = secondsBetween(from, to)
  return seconds === null ? null : Math.round(seconds)
}
