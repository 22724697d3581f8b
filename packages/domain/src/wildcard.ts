/**
 * Compiles a pattern in which `*` stands for any characters, none and slashes included; everything else stands for
 * itself. A pattern without a `*` matches the equal text alone.
 *
 * The texts between the stars are looked for from left to right, each behind the one before, and never again: that is
 * right, because the leftmost place of one leaves the most room for the next. So the time is linear in the length of the
 * text, whatever the pattern; a regular expression or a shell pattern of the same stars can take exponential time.
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
