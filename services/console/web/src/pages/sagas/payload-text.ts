/**
 * Returns JSON with line breaks and indents. Tokens stay unchanged, because parsing would round long numbers,
 * which ids often are.
 *
 * @param text valid JSON
 */
export function indentJson(text: string): string {
  const tokens = text.match(token) ?? []
  let depth = 0
  const parts = tokens.map((token) => {
    switch (token) {
      case '{':
      case '[':
        depth += 1
        return token + lineBreak(depth)
      case '}':
      case ']':
        depth -= 1
        return lineBreak(depth) + token
      case ',':
        return token + lineBreak(depth)
      case ':':
        return ': '
      default:
        return token.startsWith('"') ? token : token.replace(/\s/g, '')
    }
  })
  return parts.join('')
}

/** Matches a text, an empty object or list, a punctuation character, or any other token. */
const token = /"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/g

/** Largest indent, so that nesting does not multiply the size of a text. */
const indentMax = 32
const lineBreak = (depth: number) => `\n${'  '.repeat(Math.min(depth, indentMax))}`

const rowBytes = 16

/** Returns bytes as offset, hexadecimal digits and printable characters, like `hexdump -C`. */
export function hexOf(bytes: Uint8Array): string {
  const rows: string[] = []
  for (let offset = 0; offset < bytes.length; offset += rowBytes) {
    const row = bytes.subarray(offset, offset + rowBytes)
    const digits = Array.from(row, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const characters = Array.from(row, (byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
    ).join('')
    rows.push(`${offset.toString(16).padStart(8, '0')}  ${digits.padEnd(rowBytes * 3 - 1)}  ${characters}`)
  }
  return rows.join('\n')
}
