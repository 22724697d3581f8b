import { isUtf8 } from 'node:buffer'

/**
 * The characters that git escapes with a backslash and a letter. Other bytes are escaped with three octal
 * digits.
 */
const letters: Record<string, string> = {
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '"': '"',
  '\\': '\\',
}
const characters = new Map(Object.entries(letters).map(([character, letter]) => [letter, character]))

/**
 * Returns the path of a file as text. A path that is not UTF-8 is quoted as git does it, such as `"caf\351"`,
 * because replacement characters would make different paths equal. A path that looks quoted is quoted as
 * well. {@link bytesOfName} is the inverse.
 */
export function nameOf(bytes: Buffer): string {
  const text = bytes.toString()
  return isUtf8(bytes) && readQuoted(text) === null ? text : quoted(bytes)
}

/**
 * Returns the bytes of a path, plain or quoted by {@link nameOf}. Any other text in quotes is a plain path.
 */
export const bytesOfName = (name: string): Buffer => readQuoted(name) ?? Buffer.from(name)

/** Returns a path as trees store it, one character for each byte. */
export const storedPath = (name: string): string => bytesOfName(name).toString('latin1')

function quoted(bytes: Buffer): string {
  const text = bytes.toString('latin1').replace(/[^ !#-[\]-~]/g, (character) => {
    return `\\${letters[character] ?? character.charCodeAt(0).toString(8).padStart(3, '0')}`
  })
  return `"${text}"`
}

/** Longest quoted path. No file system accepts a longer one. */
const quotedLengthMax = 65_536
const quotedShape = /^"(?:[ !#-[\]-~]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*"$/

/**
 * Returns the bytes of a quoted path; null for a text that is not the quoted form of a path by {@link
 * nameOf}.
 */
function readQuoted(text: string): Buffer | null {
  if (text.length > quotedLengthMax || !text.includes('\\') || !quotedShape.test(text)) return null
  const bytes = Buffer.from(
    text.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, escaped: string) => {
      return characters.get(escaped) ?? String.fromCharCode(Number.parseInt(escaped, 8))
    }),
    'latin1',
  )
  return quoted(bytes) === text && nameOf(bytes) === text ? bytes : null
}
