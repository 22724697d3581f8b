export const dayMs = 86_400_000
const hourMs = 3_600_000
const minuteMs = 60_000

/**
 * Returns the value of an `<input type="datetime-local">` for a time in ISO 8601, in the viewer's zone, to
 * the second; '' for an invalid time.
 */
export function localTime(text: string | undefined): string {
  const time = new Date(text ?? '')
  if (Number.isNaN(time.getTime())) return ''
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * minuteMs)
  return shifted.toISOString().slice(0, 19)
}

/**
 * Returns the instants of a local time, earliest first: two in an hour that occurs twice, otherwise one; none
 * for an invalid time.
 */
export function momentsOfLocal(value: string): string[] {
  const time = new Date(value)
  if (value === '' || Number.isNaN(time.getTime())) return []
  const around = [-hourMs, 0, hourMs].map((step) => new Date(time.getTime() + step))
  const same = around.filter((each) => localTime(each.toISOString()) === localTime(time.toISOString()))
  return same.map((each) => each.toISOString())
}

/**
 * Returns the time of a changed field; undefined for an empty one. In an hour that occurs twice, it keeps the
 * UTC offset of the former time, if that is one of the two.
 */
export function timeOfLocal(value: string, before?: string | undefined): string | undefined {
  const moments = momentsOfLocal(value)
  const offset = new Date(before ?? '').getTimezoneOffset()
  return moments.find((each) => new Date(each).getTimezoneOffset() === offset) ?? moments[0]
}
