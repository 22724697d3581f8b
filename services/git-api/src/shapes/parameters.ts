import { type Scope, scopes } from '@switchyard/domain/access'
import { refNameLengthMax } from '@switchyard/domain/commit'
import { emptyAs, flag, list, pathCharsMax, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { regexCharsMax } from './name-regex.js'

/** Makes a parameter optional; null means the same as a missing parameter. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

/** Makes a text optional; an empty one counts as missing. */
export const optionalText = <Schema extends z.ZodType<string>>(schema: Schema) =>
  optional(schema).transform((value) => (value?.trim() ? value : undefined))

/** The purpose of a token, as its creator describes it. */
export const tokenDescription = () => optionalText(text())

/** Scopes of a token: a list, or one text with commas. */
export const scopeList = (allowed: readonly Scope[] = scopes) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map((scope) => scope.trim()) : value),
    list(z.string().meta({ enum: [...allowed] }))
      .refine((given) => given.length > 0, { error: 'is empty' })
      .refine((given) => given.every((scope) => (allowed as readonly string[]).includes(scope)), {
        error: 'does not have a valid value',
      })
      .transform((given) => [...new Set(given)] as Scope[]),
  )

const tenantCharsMax = 128

/**
 * Tenants of sagas: a list, or one text with commas. The empty text, which forms send for an empty field,
 * counts as missing.
 */
export const optionalTenantList = () =>
  z.preprocess(
    (value) => (typeof value === 'string' ? (value === '' ? undefined : value.split(',')) : value),
    optional(
      list(text().transform((tenant) => tenant.trim()))
        .refine((tenants) => tenants.length > 0, { error: 'is empty' })
        .refine((tenants) => tenants.every((tenant) => tenant !== '' && !/\p{Cc}/u.test(tenant)), {
          error: 'has a tenant that is empty or not printable',
        })
        .refine((tenants) => tenants.every((tenant) => tenant.length <= tenantCharsMax), {
          error: `has a tenant that is too long (maximum is ${tenantCharsMax} characters)`,
        })
        .transform((tenants) => [...new Set(tenants)]),
    ),
  )

/** A date such as `2030-12-31`; a time of day after it is ignored. */
const day = () =>
  text()
    .meta({ format: 'date' })
    .transform((value, context) => {
      const match = /^(\d{4}-\d{2}-\d{2})(?:T.*)?$/.exec(value.trim())
      const date = new Date(`${match?.[1]}T00:00:00Z`)
      // 31 June would become 1 July.
      if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(match?.[1] ?? '-')) return date
      context.addIssue({ code: 'custom', message: 'is invalid' })
      return z.NEVER
    })

/** An optional date; the empty text, which forms send for an empty field, counts as missing. */
export const optionalDay = () => emptyAs(undefined, optional(day()))

/** An optional date, which null removes; forms send the empty text for null. */
export const clearableDay = () => emptyAs(null, day().nullable().optional())

const topicLengthMax = 255

/** Topics of a project: a list, or one text with commas. Blank ones are left out. */
export const topicList = () =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    list(text())
      .refine((topics) => topics.every((topic) => topic.length <= topicLengthMax), {
        error: `has a topic that is too long (maximum is ${topicLengthMax} characters)`,
      })
      .transform((topics) => [
        ...new Set(topics.map((topic) => topic.trim()).filter((topic) => topic !== '')),
      ]),
  )

const servicesMax = 50
/** The same limit as for the service names that sagas report. */
export const serviceCharsMax = 128

/** Unique names of services, without blanks around them: a list, or one text with commas. */
export const serviceNames = () =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',').filter((name) => name.trim() !== '') : value),
    list(text(serviceCharsMax), servicesMax)
      .refine((names) => names.every((name) => name.trim() !== '' && !/\p{Cc}/u.test(name)), {
        error: 'has a name that is blank or has control characters',
      })
      .transform((names) => [...new Set(names.map((name) => name.trim()))]),
  )

/** One of GitLab's access levels, as a number or a text. */
export const accessLevel = (...levels: number[]) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
    z
      .int()
      .refine((level) => levels.includes(level), { error: 'does not have a valid value' })
      .meta({ enum: levels }),
  )

/** A search over names of branches or tags. A text that is longer than a name finds nothing. */
export const nameSearch = () =>
  text(refNameLengthMax).default('').meta({
    description:
      'Part of the name, case-insensitive; `^x`: starts with x; `x$`: ends with x; `*`: any characters',
  })

/** A regular expression over names of branches or tags. */
export const nameRegex = () =>
  optionalText(text(regexCharsMax)).meta({
    description: 'An RE2 regular expression that matches anywhere in the name, case-sensitive',
  })

/** The rest of a path after `/*`, which express passes in parts. */
export const pathRest = () =>
  z.preprocess((value) => (Array.isArray(value) ? value.join('/') : value), text(pathCharsMax))

/** Most bytes of the body of a commit, which contains its files. */
export const commitBytesMax = 300 * 1024 * 1024

/** File contents may contain any character, including NUL. Contents of large bodies are decoded already. */
export const content = z.preprocess(
  (value) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value),
  z
    .custom<string | Uint8Array>(
      (value) => typeof value === 'string' || value instanceof Uint8Array,
      'is invalid',
    )
    .meta({ type: 'string', maxLength: commitBytesMax }),
)

/** The parameters of endpoints that answer with the files of a diff. */
export const diffParameters = {
  unidiff: flag().default(false),
  path: optionalText(text(pathCharsMax)).meta({
    description: 'Old or new path of the only file to show; its patch may be longer than in a list',
  }),
  stat: flag()
    .default(false)
    .meta({ description: 'Give the numbers of changed lines instead of patches; has no effect with `path`' }),
}
