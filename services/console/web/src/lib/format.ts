export { duration, visibleControls } from '@switchyard/domain/display'

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

/**
 * Range of seconds that is 'just now'. Pages update their clock every 15 seconds, and clocks differ by a few
 * seconds, so a number would be wrong within it.
 */
const justNowSeconds = { from: -60, to: 5 }

/** Returns 'just now', '3 minutes ago', 'in 2 days'. */
export function sinceNow(time: Date, now: number): string {
  const seconds = (time.getTime() - now) / 1000
  if (seconds > justNowSeconds.from && seconds < justNowSeconds.to) return 'just now'
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
  return relative.format(Math.trunc(seconds / size), unit)
}

/** Returns date and time to the second in the viewer's zone, with its name. */
export const exactTime = (time: Date) => exact.format(time)

const counts = new Intl.NumberFormat('en')
export const count = (value: number) => counts.format(value)

/** Returns 'N things', with the plural of the noun. */
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

/** Returns the parameters of addresses within a project, by its path: 'root/shop'. */
export function projectParams(path: string) {
  const [namespace = '', name = ''] = path.split('/')
  return { namespace, name }
}

/** Returns the non-empty lines of a text, trimmed. */
export const filledLines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean)

/** Returns the first line of a text, such as a stack trace, cut to at most `charsMax` characters. */
export function firstLine(text: string, charsMax: number): string {
  const [line = ''] = filledLines(text)
  const characters = [...line.slice(0, 2 * charsMax + 2)]
  return characters.length > charsMax ? `${characters.slice(0, charsMax - 1).join('')}…` : line
}

/** Splits a text into lines. A final line break ends the last line, and does not begin another. */
export const splitLines = (text: string) => (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')

export const shortSha = (sha: string) => sha.slice(0, 8)

/** Returns whether an address becomes a link: addresses come from users, so only web addresses do. */
export const isWebAddress = (address: string) =>
  URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol)
