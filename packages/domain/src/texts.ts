import type { FieldProblems } from './errors.js'

/**
 * Removes characters from both ends of a text in linear time. A regular expression for the end takes
 * quadratic time when the text has long runs of these characters elsewhere.
 */
export function trimCharacters(text: string, isTrimmed: (character: string) => boolean): string {
  let start = 0
  let end = text.length
  while (start < end && isTrimmed(text.charAt(start))) start += 1
  while (end > start && isTrimmed(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** Returns the entries of a list with commas, without blanks around them and without empty entries. */
export const listedEntries = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

/** Splits `name=value` at its first `=`. The value of a text without one is empty. */
export function nameAndValue(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/**
 * Returns the beginning of a text, at most `charsMax` UTF-16 units. A character of two units is never cut in
 * half, because PostgreSQL refuses such a half in JSON.
 */
export const beginningOf = (text: string, charsMax: number): string =>
  text.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '')

/** Most characters of a caller's text that an error repeats. */
const repeatedCharsMax = 200

/** Returns the whole text, or its beginning. The default length is that of a caller's text in an error. */
export const excerpt = (text: string, charsMax: number = repeatedCharsMax): string =>
  text.length <= charsMax ? text : `${beginningOf(text, charsMax - 1)}…`

/** Replaces NUL, which PostgreSQL cannot store in text. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD')

/** Returns the problem of a text that has more characters than allowed, as GitLab words it. */
export const tooLongText = (max: number): string => `is too long (maximum is ${max} characters)`

/** Returns the problem of a text that is too long, by its field. Counts code points, as the database does. */
export const tooLong = (field: string, text = '', max: number): FieldProblems =>
  text.length > max && [...text].length > max ? { [field]: [tooLongText(max)] } : {}

/**
 * Returns whether a text is an HTTP address. Control characters are refused: the URL parser ignores line
 * breaks and tabs, but pages that show the link may not.
 */
export const isHttpUrl = (text: string): boolean => /^https?:\/\/\P{Cc}+$/iu.test(text) && URL.canParse(text)
