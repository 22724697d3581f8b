/** Returns the seconds between two times; null when one of them is missing. */
export const secondsBetween = (from: Date | null, to: Date | null) =>
  from && to ? (to.getTime() - from.getTime()) / 1000 : null

/** Returns whole seconds, because GitLab's clients accept no fractions in the durations of a pipeline. */
export function wholeSeconds(from: Date | null, to: Date | null): number | null {
  const seconds = secondsBetween(from, to)
  return seconds === null ? null : Math.round(seconds)
}
