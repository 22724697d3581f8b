import { createHash } from 'node:crypto'

const charsMax = 8192
const framesMax = 5
const hexDigits = 16

const frame = /^\s*(at |File "|[-\w./\\]+\.\w+:\d+|from )/
const hashIfDigits = (word: string): string => (/\d/.test(word) ? '#' : word)
const variable: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/gi, () => '#'],
  [/"[^"\n]*"|'[^'\n]*'|`[^`\n]*`/g, () => '#'],
  [/:line \d+|line \d+|:\d+(?::\d+)?/gi, () => ''],
  [/0x[0-9a-f]+|\b[0-9a-f]{6,}\b/gi, hashIfDigits],
  [/\d+(?:[.,]\d+)*/g, () => '#'],
  [/\s+/g, () => ' '],
]

/**
 * Returns the fingerprint of an error text, which is equal for the same failure with other ids, numbers and
 * line numbers. It is a hash of the first line and the first stack frames, as 16 hexadecimal digits.
 */
export function errorFingerprint(errors: string): string {
  const lines = errors.slice(0, charsMax).split('\n')
  const [first = ''] = lines
  const frames = lines.slice(1).filter((line) => frame.test(line))
  const text = [first, ...frames.slice(0, framesMax)].map(withoutVariables).join('\n')
  return createHash('sha256').update(text).digest('hex').slice(0, hexDigits)
}

const withoutVariables = (line: string): string =>
  variable.reduce((text, [pattern, mark]) => text.replace(pattern, mark), line).trim()
