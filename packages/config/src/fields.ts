import { z } from 'zod'
import { redisOptions } from './redis-options.js'
import { secretField } from './secret-field.js'

/** Returns the field of a whole number in decimal. */
export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))

/** Returns the field of a TCP port; 0 lets the system choose. */
export const port = () => integer(0, 65535)

/** Returns the field of milliseconds, at least `min`, or 0 for off. */
export const millisecondsOrOff = (min: number, max: number) =>
  integer(0, max).refine((value) => value === 0 || value >= min, `must be 0 or at least ${min}`)

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text

/** Returns the field of origins of web pages, exactly as browsers send them, separated by commas. */
export const origins = () =>
  z
    .string()
    .transform((text) => text.split(',').map((origin) => origin.trim()))
    .refine(
      (list) => list.every(isOrigin),
      'must be origins such as https://console.example.com, separated by commas, each without a path',
    )

/**
 * Returns the field of an HTTP or HTTPS address to which paths are added, with or without slashes at its end.
 * Its value has none.
 */
export const baseUrl = (example: string) =>
  z
    .url({ protocol: /^https?$/, error: `must be a URL such as ${example}` })
    .refine((text) => !/[?#@]/.test(text), 'must have no user name, query or fragment')
    .transform((text) => text.replace(/(?<!\/)\/+$/, ''))

/** Returns the field of `true` or `false`, nothing else. */
export const booleanFlag = () =>
  z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')

const hasScheme = (schemes: string[]) => (value: string) =>
  URL.canParse(value) && schemes.includes(new URL(value).protocol)

/**
 * Returns the field of `postgresql://user:password@host:port/database`. It is a secret, because it contains a
 * password.
 */
export const databaseUrl = () =>
  secretField(
    z
      .string('must be postgresql://user:password@host:port/database')
      .refine(
        hasScheme(['postgresql:', 'postgres:']),
        'must be postgresql://user:password@host:port/database',
      ),
  )

const redisForms =
  'redis://host:port, rediss://host:port, redis+sentinel://host:port,host:port/name, rediss+sentinel://… or unix:///path'

/**
 * Returns the field of a URL that {@link redisOptions} reads. It is a secret, because it may contain a
 * password.
 */
export const redisUrl = () =>
  secretField(z.string(`must be ${redisForms}`).refine(isRedisUrl, `must be ${redisForms}`))

function isRedisUrl(value: string): boolean {
  if (!/^(rediss?|rediss?\+sentinel|unix):/i.test(value)) return false
  try {
    redisOptions(value)
    return true
  } catch {
    return false
  }
}
