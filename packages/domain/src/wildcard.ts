/**
 * Compiles a pattern in which `*` matches any characters, including none and slashes. All other characters
 * match themselves.
 *
 * The pieces between the stars are searched once, from left to right, because the leftmost match of a piece
 * leaves the most text for the next one. So the time is linear in the length of the text, where a regular
 * expression could take exponential time.
 */
export function compileWildcard(pattern: string): (text: string) => boolean {
  const [start = '', ...rest] = pattern.split('*')
  const end = rest.pop()
  if (end === undefined) return (text) => text === pattern
  const middle = rest.filter((part) => part !== '')
  return (text) => {
    if (!text.startsWith(start) || !text.endsWith(end)) return false
    const endsAt = text.length - end.length
    let at = start.length
    for (const part of middle) {
      const found = text.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return at <= endsAt
  }
}
