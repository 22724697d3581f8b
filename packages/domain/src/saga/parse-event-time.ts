const pattern =
  /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2}):(\d{2})(?:\.(\d{0,7}))?\s?(?:Z|([+-])(\d{2}):?(\d{2}))?$/i

/**
 * Parses `yyyy-MM-dd HH:mm:ss.fff`, which is UTC unless it has an offset. Also accepts `T`, `Z` and a
 * fraction of 0 to 7 digits, of which milliseconds are kept. Null for any other text and for dates that do
 * not exist.
 */
export function parseEventTime(text: string): Date | null {
  const match = pattern.exec(text.trim())
  if (!match) return null
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHours, offsetMinutes] = match
  const utc = new Date(0)
  utc.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  utc.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.slice(0, 3).padEnd(3, '0')))
  // Date carries an out-of-range field over to the next one, so the fields differ then.
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
