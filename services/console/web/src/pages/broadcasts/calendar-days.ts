/**
 * Returns the starts of `count` days of the viewer's calendar from the day of an instant, and the end of the
 * last one.
 */
export function dayStarts(from: number, count: number): number[] {
  const date = new Date(from)
  // A day has 23 or 25 hours when summer time begins or ends.
  return Array.from({ length: count + 1 }, (_, index) =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate() + index).getTime(),
  )
}

/**
 * Returns the place of an instant in a row of days of equal width, in per cent; 0 before the first day, 100
 * after the last.
 */
export function placeInDays(time: number, starts: readonly number[]): number {
  const days = starts.length - 1
  const index = starts.findLastIndex((start) => start <= time)
  if (index < 0) return 0
  const [start, end] = [starts[index], starts[index + 1]]
  if (start === undefined || end === undefined) return 100
  return ((index + (time - start) / (end - start)) / days) * 100
}
