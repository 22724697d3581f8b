import { type DomainError, excerpt, invalidParameters } from '@switchyard/domain'
import { z } from 'zod'

/** Most problems that an error names. */
export const problemsMax = 20

/**
 * Reads merged parameters. Refuses invalid ones in GitLab's words, up to 20 problems at once: `x is missing`,
 * `x is invalid`, `x is empty`, `x is too long`, `x does not have a valid value`.
 *
 * An optional number, time, boolean or choice that is empty counts as left out, because forms send every
 * field. It is removed from the given values. An empty text is a text.
 */
export function readParameters<Input extends z.ZodType>(schema: Input, given: unknown): z.output<Input> {
  let parsed = schema.safeParse(given)
  if (!parsed.success && leaveOutBlanks(parsed.error.issues, given)) parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = new Set<string>()
  for (const issue of parsed.error.issues) {
    for (const problem of problemTexts(issue, given)) problems.add(problem)
    if (problems.size >= problemsMax) break
  }
  throw invalidParameters([...problems].slice(0, problemsMax))
}

/**
 * Removes empty texts that were refused for their type, or because they are not in a list.
 *
 * @returns whether there were any
 */
function leaveOutBlanks(issues: readonly z.core.$ZodIssue[], given: unknown): boolean {
  let found = false
  for (const issue of issues) {
    if (issue.code !== 'invalid_type' && issue.code !== 'invalid_value') continue
    const path = givenPath(issue.path, given)
    const name = path.at(-1)
    const parent = valueAt(given, path.slice(0, -1))
    if (name === undefined || Array.isArray(parent) || valueAt(parent, [name]) !== '') continue
    found = Reflect.deleteProperty(parent as object, name)
  }
  return found
}

const outOfRange = 'does not have a valid value'

function problemTexts(issue: z.core.$ZodIssue, given: unknown): string[] {
  const path = givenPath(issue.path, given)
  const name = parameterName(path)
  const listed = issue.code === 'invalid_value'
  if (valueAt(given, path) === undefined) {
    // GitLab reports a required parameter with a list of values twice; clients match on the text.
    return listed ? [`${name} is missing`, `${name} ${outOfRange}`] : [`${name} is missing`]
  }
  if (issue.code === 'custom') return [`${name} ${issue.message}`]
  if (issue.code === 'too_big' && issue.origin === 'string')
    return [`${name} is too long (maximum is ${issue.maximum} characters)`]
  return [listed || issue.message === outOfRange ? `${name} ${outOfRange}` : `${name} is invalid`]
}

/**
 * Returns the part of a path that the client wrote. For example, the second word of `status=Started,Ended`
 * has no name of its own.
 */
function givenPath(path: PropertyKey[], given: unknown): PropertyKey[] {
  const parts = path.findIndex((_, index) => typeof valueAt(given, path.slice(0, index)) === 'string')
  return parts === -1 ? path : path.slice(0, parts)
}

/** `['actions', 0, 'file_path']` → `actions[0][file_path]`. */
function parameterName(path: PropertyKey[]): string {
  return excerpt(path.map((part, index) => (index === 0 ? String(part) : `[${String(part)}]`)).join(''))
}

function valueAt(given: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (value === null || typeof value !== 'object' ? undefined : Reflect.get(value, part)),
    given,
  )
}

/** Most items of a list of parameters, unless an endpoint sets another limit. */
const itemsMaxDefault = 100

/** Reads a list of bounded length. A longer list is refused before its items are read. */
export const list = <Item extends z.ZodType>(item: Item, itemsMax = itemsMaxDefault) =>
  z.preprocess(
    (given, { addIssue }) => {
      if (!Array.isArray(given) || given.length <= itemsMax) return given
      addIssue({ code: 'custom', message: `has more than ${itemsMax} items` })
      return z.NEVER
    },
    z.array(item).meta({ maxItems: itemsMax }),
  )

const nul = '\0'

/**
 * Most characters of a text, unless an endpoint sets another limit. Names, patterns and addresses are not
 * longer.
 */
export const textCharsMax = 4096

/** Most characters of a path: 4,096 bytes, each of which git may quote with four characters. */
export const pathCharsMax = 16 * 1024

/** Most characters of a text that people write: a message, a note, a description. */
export const proseCharsMax = 1024 * 1024

/**
 * Reads a text of bounded length that PostgreSQL can store. NUL is refused, and half of a surrogate pair is
 * replaced, so that answers show what is stored. Numbers and booleans are read as their text. A number that
 * JSON has rounded is refused, because its text would differ from the one that was sent.
 */
export const text = (charsMax = textCharsMax) =>
  z.preprocess(
    asText,
    z
      .string()
      .max(charsMax, { abort: true })
      .refine((value) => !value.includes(nul), { error: 'is invalid' }),
  )

function asText(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\p{Surrogate}/gu, '\ufffd')
  if (typeof value === 'number') return isRounded(value) ? value : String(value)
  return typeof value === 'boolean' ? String(value) : value
}

/** Returns whether other numbers than this one are read as the same number. */
const isRounded = (value: number) =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))

/** Reads a text with at least one character that is not white space. */
export const filledText = (charsMax?: number) =>
  text(charsMax).refine((value) => value.trim() !== '', { error: 'is empty' })

/** Fewest characters of a search, because texts are found by their trigrams and a shorter text has none. */
const searchedCharsMin = 3

/** Reads a text to search for in a table that may be large. */
export const searchedText = () =>
  text().refine((value) => value.trim().length >= searchedCharsMin, {
    error: `is too short (minimum is ${searchedCharsMin} characters)`,
  })

/**
 * Reads an empty text, which forms send for an empty field, as another value.
 *
 * @param meaning null, or undefined for a missing field
 */
export const emptyAs = <Schema extends z.ZodType>(meaning: null | undefined, schema: Schema) =>
  z.preprocess((value) => (value === '' ? meaning : value), schema)

const wholeNumber = (value: unknown) =>
  typeof value === 'string' && /^\s*[+-]?\d{1,15}\s*$/.test(value) ? Number(value) : value

/** Reads a whole number in a range, also from text. */
export const integer = (min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(wholeNumber, z.int().min(min, outOfRange).max(max, outOfRange))

export const rowId = () => z.preprocess(wholeNumber, z.int().min(1).max(2_147_483_647))

/** Reads the id of a row in a table whose ids are of the type bigint. */
export const bigRowId = () => z.preprocess(wholeNumber, z.int().min(1))

const decimalNotation = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const decimalLengthMax = 100

const decimalNumber = (value: unknown) =>
  typeof value === 'string' && value.length <= decimalLengthMax && decimalNotation.test(value.trim())
    ? Number(value)
    : value

/**
 * Reads a decimal number in a range, also from text of at most 100 characters. Every number has a range,
 * because PostgreSQL cannot add up or average the largest ones that a float holds.
 */
export const decimal = (min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(decimalNumber, z.number().min(min, outOfRange).max(max, outOfRange))

const truths = new Map(
  Object.entries({ true: true, t: true, yes: true, y: true, on: true, '1': true }).concat(
    Object.entries({ false: false, f: false, no: false, n: false, off: false, '0': false }),
  ),
)

/** Reads a boolean, also from text: true, t, yes, y, on, 1 and their opposites, in any case. */
export const flag = () =>
  z.preprocess((value) => {
    if (typeof value === 'number') return truths.get(String(value)) ?? value
    return typeof value === 'string' ? (truths.get(value.trim().toLowerCase()) ?? value) : value
  }, z.boolean())

/**
 * Reads a point in time: ISO 8601, a date alone, or RFC 2822. A time without a zone is in UTC. Refuses an ISO
 * day that no calendar has, which JavaScript would move to the next month, and years before 0, of which
 * PostgreSQL stores only some.
 */
export const time = () =>
  z.preprocess(
    (value) => (typeof value === 'string' ? parseTime(value) : value),
    z.date().refine((date) => date.getUTCFullYear() >= 0, { error: 'is invalid' }),
  )

const isoDay = /^(\d{4})-(\d{2})-(\d{2})(?=$|[T ])/
const isoWithoutZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/i
const isoDate = /^[+-]?\d{4,6}-\d{2}(-\d{2})?$/
/** The end of a time with a zone, as in `+0100`, `10:00+01`, `UTC+2` and `EST`. */
const zoneAtEnd =
  /(?:\d ?z|\b(?:utc?|gmt|[ecmp][sd]t)|(?::\d{2}(?:\.\d+)?(?: ?[ap]m)?|\b(?:utc?|gmt)) ?[+-]\d{1,2}(?::?\d{2})?)$/i

const timeLengthMax = 100

function parseTime(value: string): Date | string {
  const trimmed = value.trim()
  if (trimmed.length > timeLengthMax) return value
  // JavaScript reads bare numbers, and words that contain one, as dates, but no client means them so.
  if (/^[+-]?\d*$/.test(trimmed) || !/\d{4}/.test(trimmed)) return value
  const [, year, month, day] = isoDay.exec(trimmed)?.map(Number) ?? []
  if (day !== undefined && day > daysIn(year as number, month as number)) return value
  const date = new Date(withZone(trimmed))
  return Number.isNaN(date.getTime()) ? value : date
}

/** Adds UTC to a time without a zone, which JavaScript would read in the zone of the process. */
function withZone(text: string): string {
  if (isoWithoutZone.test(text)) return `${text.replace(/[ t]/, 'T')}Z`
  // A zone may have its name after it, as in `GMT+0100 (CET)`.
  const [withoutName = ''] = text.split('(', 1)
  return isoDate.test(text) || zoneAtEnd.test(withoutName.trimEnd()) ? text : `${text} UTC`
}

/** Returns the number of days of a month, 1 to 12. */
const daysIn = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate()

const asksForNothing = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Returns the text of a value. Objects of forms have no prototype, so they cannot be converted to text. */
const scalarText = (value: unknown) => (typeof value === 'object' ? '' : String(value))

/**
 * Declares a parameter of GitLab that is refused here, because an answer that ignored it would have another
 * meaning than its sender expects.
 *
 * @param problem such as `is not supported: there are no stars`
 * @param harmless values that ask for what happens anyway, as text; the empty one always does
 */
export const unsupported = (problem: string, ...harmless: string[]) =>
  z
    .unknown()
    .refine((value) => asksForNothing(value) || harmless.includes(scalarText(value)), { error: problem })
    .optional()
    .meta({
      deprecated: true,
      description: [`It ${problem}`, ...harmless.map((value) => `\`${value}\` is accepted`)].join('; '),
    })

/** Returns the error for a request with this problem of a parameter. */
export const parameterProblem = (name: string, problem: string): DomainError =>
  invalidParameters([`${name} ${problem}`])

/**
 * Describes, in an answer, a text that is one of these values, where its TypeScript type is only a string.
 */
export const oneOf = (values: readonly string[]) => z.string().meta({ enum: [...values] })

/** Describes, in an answer, a time as ISO 8601 text. */
export const timeText = () => z.string().meta({ format: 'date-time' })

/** Describes, in an answer, an address. */
export const link = () => z.string().meta({ format: 'uri' })
