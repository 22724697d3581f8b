/**
 * Returns whether a message for `target` is shown on the page `path`. A target has one pattern on each line,
 * of which one has to match. Without a target, every page matches. `*` matches any text, including slashes.
 * Case and percent encoding do not matter, because browsers send `/%C3%BCber` for `/über`. The first slash of
 * pattern and path is optional.
 *
 * Each piece of a pattern is searched once, from left to right, so the time is linear.
 */
export function matchesTargetPath(target: string | null, path: string): boolean {
  const patterns = (target ?? '').split('\n').flatMap((line) => line.trim() || [])
  const text = rooted(comparable(path))
  return patterns.length === 0 || patterns.some((pattern) => matches(pattern, text))
}

function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = (pattern.startsWith('*') ? pattern : rooted(pattern))
    .split('*')
    .map(comparable)
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let end = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, end)
    if (found < 0) return false
    end = found + piece.length
  }
  return text.length - last.length >= end && text.endsWith(last)
}

const rooted = (path: string) => (path.startsWith('/') ? path : `/${path}`)

const comparable = (text: string) => decodePercent(text).toLowerCase()

/** One percent-encoded character of one to four bytes of UTF-8. */
const encodedCharacter =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi

/** Decodes percent-encoded characters and keeps malformed ones. */
const decodePercent = (text: string) =>
  text.replace(encodedCharacter, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
