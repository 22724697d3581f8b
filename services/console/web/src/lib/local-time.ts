/** The value of an `<input type="datetime-local">` for a time in ISO 8601, in the viewer's zone; '' for what is no time. */
export function localTime(text: string | undefined): string {
  const time = new Date(text ?? '')
  if (Number.isNaN(time.getTime())) return ''
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

/** The other way round; undefined for an empty field. */
export function timeOfLocal(value: string): string | undefined {
  const time = new Date(value)
  return value === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
