export const dayMs = 86_400_000
const hourMs = 3_600_000
const minuteMs = 60_000

/**
 * The value of an `<input type="datetime-local">` for a time in ISO 8601, in the viewer's zone, to the
 * second; '' for what is no time.
 */
export function localTime(text: string | undefined): string {
  const time = new Date(text ?? '')
  if (Number.isNaN(time.getTime())) return ''
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * minuteMs)
  return shifted.toISOString().slice(0, 19)
}

/**
 * The moments that a local time names, the earlier one first: two in the hour that comes twice, else one;
 * none for no time.
 */
export function momentsOfLocal(value: string): string[] {
  const time = new Date(value)
  if (value === '' || Number.isNaN(time.getTime())) return []
  const around = [-hourMs, 0, hourMs].map((step) => new Date(time.getTime() + step))
  const same = around.filter((each) => localTime(each.toISOString()) === localTime(time.toISOString()))
  return same.map((each) => each.toISOString())
}

/**
 * The time of a changed field; undefined for an empty one. In the hour that comes twice it has the same
 * distance from UTC as the time before the change, where that is one of the two.
 */
export function timeOfLocal(value: string, before?: string | undefined): string | undefined {
  const moments = momentsOfLocal(value)
  const offset = new Date(before ?? '').getTimezoneOffset()
  return moments.find((each) => new Date(each).getTimezoneOffset() === offset) ?? moments[0]
}
