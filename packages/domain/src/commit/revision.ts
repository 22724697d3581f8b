/** Letters git forbids in names of references: control characters, blank, `~ ^ : ? * [ \`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses exactly these.
const forbiddenInRef = /[\x00-\x20\x7f~^:?*[\\]/

/** No name of a branch or tag is longer; in bytes of UTF-8, so in characters too. */
export const refNameLengthMax = 1000

/** Whether git accepts this as a branch or tag name; the rules of `git check-ref-format --branch`. */
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
 * Whether a branch or tag of this name may be made. A name that looks like a full reference or like the id of an object
 * (SHA-1 or SHA-256) could never be asked for: the other meaning would win.
 */
export const isNewBranchName = (name: string): boolean =>
  isRefName(name) && !name.startsWith('refs/') && !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(name)

/** `~`, `~2`, `^`, `^2`, `^{}` and `^{commit}`, any number of them. */
const stepsShape = /^(?:[~^]\d{0,6}|\^\{(?:commit)?\})*$/
const stepsLengthMax = 1000

export interface ParsedRevision {
  /** A hash, a branch, a tag, a full reference name, `HEAD` or `@`. */
  name: string
  /** What follows the name, such as `~2`; empty when nothing does. */
  steps: string
}

/**
 * Reads text that is to name one commit: a name, and perhaps steps from there to another commit. Ranges, options,
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
