const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** '3 minutes ago', 'in 2 days'. */
export function sinceNow(time: Date, now: number): string {
  const seconds = (time.getTime() - now) / 1000
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
  return relative.format(Math.trunc(seconds / size), unit)
}

/** Date and time to the second in the viewer's zone, with its name. */
export const exactTime = (time: Date) => exact.format(time)

/** '1.4 s', '3 min 5 s', '2 h 4 min'. */
export function duration(milliseconds: number): string {
  // Each unit is left where its rounded figure would be a whole one of the next.
  if (Math.round(milliseconds) < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 9950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const counts = new Intl.NumberFormat('en')
export const count = (value: number) => counts.format(value)

/** 'N things', with the plural of the noun. */
export const countOf = (value: number, noun: string, plural = `${noun}s`) =>
  `${count(value)} ${value === 1 ? noun : plural}`

export function bytes(value: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let size = value
  let unit = 0
  while (Math.round(size) >= 1024 && unit < names.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${names[unit]}`
}

export const shortSha = (sha: string) => sha.slice(0, 8)

// What reorders text or is not seen in it: code and names with it read otherwise than they are. Blanks, and what joins letters and
// emoji, stay.
const unseen =
  /[^\P{Cc}\t\n\r]|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|\u{1f3f4}?[\u{e0000}-\u{e007f}]+/gu
/** Flags of regions are written with characters that are hidden anywhere else. */
const flag = '\u{1f3f4}'

/** Text in which controls and hidden characters are seen: `U+202E`. */
export const visibleControls = (text: string) =>
  text.replace(unseen, (found) =>
    found.startsWith(flag) ? found : [...found].map((character) => `U+${hexOf(character)}`).join(''),
  )

const hexOf = (character: string) => character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')

/** Addresses come from users: only those of the web become links. */
export const isWebAddress = (address: string) =>
  URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol)
