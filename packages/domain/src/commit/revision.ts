import { compileWildcard } from '../wildcard.js'

/** Characters that git forbids in names of references: control characters, blank, `~ ^ : ? * [ \`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses exactly these.
const forbiddenInRef = /[\x00-\x20\x7f~^:?*[\\]/

/** Longest name of a branch or tag, in bytes of UTF-8. */
export const refNameLengthMax = 1000

/** Returns whether a name is valid for a branch or tag by the rules of `git check-ref-format --branch`. */
export function isRefName(name: string): boolean {
  if (name.length > refNameLengthMax) return false
  if (name === '' || name === '@' || name.startsWith('-') || name === 'HEAD') return false
  if (forbiddenInRef.test(name) || name.includes('..') || name.includes('@{') || name.endsWith('.'))
    return false
  if (new TextEncoder().encode(name).length > refNameLengthMax) return false
  return name
    .split('/')
    .every((part) => part !== '' && part.length <= 240 && !part.startsWith('.') && !part.endsWith('.lock'))
}

/**
 * Returns whether a branch or tag with this name may be created. A name that looks like a full reference or
 * an object id (SHA-1 or SHA-256) is refused, because it could never be looked up: the other meaning takes
 * precedence.
 */
export const isNewRefName = (name: string): boolean =>
  isRefName(name) && !name.startsWith('refs/') && !isObjectId(name)

/** A sequence of `~`, `~2`, `^`, `^2`, `^{}` and `^{commit}`, which may be empty. */
const stepsShape = /^(?:[~^]\d{0,6}|\^\{(?:commit)?\})*$/
const stepsLengthMax = 1000

export interface ParsedRevision {
  /** A hash, a branch, a tag, a full reference name, `HEAD` or `@`. */
  name: string
  /** The steps after the name, such as `~2`; may be empty. */
  steps: string
}

/**
 * Parses a revision of one commit: a name, optionally followed by steps to an ancestor. Ranges, options,
 * reflog and path expressions are refused.
 *
 * @returns null when the text cannot name a commit
 */
export function parseRevision(text: string): ParsedRevision | null {
  const nameLength = text.search(/[~^]/)
  const name = nameLength < 0 ? text : text.slice(0, nameLength)
  const steps = nameLength < 0 ? '' : text.slice(nameLength)
  if (name !== 'HEAD' && name !== '@' && !isRefName(name)) return null
  return steps.length <= stepsLengthMax && stepsShape.test(steps) ? { name, steps } : null
}

export const isFullHash = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)

/** Returns whether a text is the id of an object, of SHA-1 or SHA-256, in upper or lower case. */
export const isObjectId = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text)

/**
 * Compiles a search over names of branches or tags, as GitLab reads it. A name matches that contains the
 * text, in upper or lower case. `^x` matches names that begin with x, `x$` names that end with x, and `*` any
 * characters.
 *
 * @returns `matches`, and `isExact`: whether the name is the whole search text, in upper or lower case
 */
export function compileNameSearch(search: string) {
  const text = search.toLowerCase()
  const begins = text.startsWith('^')
  const ends = text.length > 1 && text.endsWith('$')
  const part = text.slice(begins ? 1 : 0, ends ? -1 : undefined)
  const matches = compileWildcard(`${begins ? '' : '*'}${part}${ends ? '' : '*'}`)
  return {
    matches: (name: string) => matches(name.toLowerCase()),
    isExact: (name: string) => name.toLowerCase() === text,
  }
}
