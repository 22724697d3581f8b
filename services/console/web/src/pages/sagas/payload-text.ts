/**
 * JSON with line breaks and indents. Tokens stay as they were written, because parsing would round the long numbers that ids
 * often are.
 *
 * @param text valid JSON
 */
export function indentJson(text: string): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []
  const parts: string[] = []
  let depth = 0
  tokens.forEach((token, index) => {
    const next = tokens[index + 1]
    if (token === '{' || token === '[') {
      parts.push(token)
      if (next === '}' || next === ']') return
      depth += 1
      parts.push(lineBreak(depth))
    } else if (token === '}' || token === ']') {
      const before = tokens[index - 1]
      if (before !== '{' && before !== '[') {
        depth -= 1
        parts.push(lineBreak(depth))
      }
      parts.push(token)
    } else if (token === ',') parts.push(token, lineBreak(depth))
    else parts.push(token === ':' ? ': ' : token)
  })
  return parts.join('')
}

/** Deeper levels are indented no further, so that nesting does not multiply the size of a text. */
const indentMax = 32
const lineBreak = (depth: number) => `\n${'  '.repeat(Math.min(depth, indentMax))}`

const rowBytes = 16

/** Bytes as offset, hexadecimal digits and printable characters, as `hexdump -C` shows them. */
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
