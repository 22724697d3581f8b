const pattern =
  /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2}):(\d{2})(?:\.(\d{0,7}))?\s?(?:Z|([+-])(\d{2}):?(\d{2}))?$/i

/**
 * Reads `yyyy-MM-dd HH:mm:ss.fff`, UTC unless it has an offset; also `T`, `Z` and 0 to 7 digits of fraction.
 * Kept to the millisecond. Null for everything else, a 30th of February included.
 */
export function parseEventTime(text: string): Date | null {
  const match = pattern.exec(text.trim())
  if (!match) return null
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHours, offsetMinutes] = match
  const utc = new Date(0)
  utc.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  utc.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.slice(0, 3).padEnd(3, '0')))
  // A field out of its range rolls over into the next one, so it reads otherwise.
  const isExact =
    utc.getUTCMonth() + 1 === Number(month) &&
    utc.getUTCDate() === Number(day) &&
    utc.getUTCHours() === Number(hour) &&
    utc.getUTCMinutes() === Number(minute) &&
    utc.getUTCSeconds() === Number(second)
  if (!isExact) return null
  if (!sign) return utc
  if (Number(offsetHours) > 14 || Number(offsetMinutes) > 59) return null
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000
  return new Date(utc.getTime() + (sign === '-' ? offsetMs : -offsetMs))
}
