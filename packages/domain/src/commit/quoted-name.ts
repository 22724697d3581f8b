import { isUtf8 } from 'node:buffer'

/** How git writes characters that have a letter behind the backslash; each other one is three octal digits. */
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
 * A file's path as text. One that is not UTF-8 is quoted the way git prints and reads it, `"caf\351"` say, since JSON
 * has no bytes and a replacement character would make names alike. So is one whose text would be read as such a quoted
 * name. {@link bytesOfName} is the inverse.
 */
export function nameOf(bytes: Buffer): string {
  const text = bytes.toString()
  return isUtf8(bytes) && readQuoted(text) === null ? text : quoted(bytes)
}

/** The bytes of a path that a caller sent, plain or quoted as {@link nameOf} does it. Other text in quotes is plain. */
export const bytesOfName = (name: string): Buffer => readQuoted(name) ?? Buffer.from(name)

/** A path as trees store it, one character per byte. */
export const storedPath = (name: string): string => bytesOfName(name).toString('latin1')

function quoted(bytes: Buffer): string {
  const text = bytes.toString('latin1').replace(/[^ !#-[\]-~]/g, (character) => {
    return `\\${letters[character] ?? character.charCodeAt(0).toString(8).padStart(3, '0')}`
  })
  return `"${text}"`
}

/** No file system takes a path that is longer than this when it is quoted. */
const quotedLengthMax = 65_536
const quotedShape = /^"(?:[ !#-[\]-~]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*"$/

/** The bytes of a quoted name; null for text that is not what {@link nameOf} makes of any bytes by quoting them. */
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
