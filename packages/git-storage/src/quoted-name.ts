import { isUtf8 } from 'node:buffer'

const escapes: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/**
 * A file's name as text. One that is not UTF-8 is quoted the way git prints and reads it, `"caf\351"` say,
 * since JSON has no bytes and a replacement character would make names alike.
 */
export function nameOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  const quoted = bytes
    .toString('latin1')
    .replace(/[^ !#-[\]-~]/g, (character) => escapes[character] ?? octal(character))
  return `"${quoted}"`
}

const octal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
