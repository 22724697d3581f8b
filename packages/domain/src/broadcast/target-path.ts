/**
 * Whether a message for `target` is shown on the page `path`. `*` stands for any text, also with slashes in it; other
 * text is compared in any case, and percent-encoded or not: browsers say `/%C3%BCber` where people write `/über`.
 * No target means every page; both sides may leave out their first slash.
 *
 * Looks for each piece of the target once, from left to right, so that no target can keep a process busy.
 */
export function matchesTargetPath(target: string | null, path: string): boolean {
  const pattern = target?.trim() ?? ''
  if (pattern === '') return true
  const [first = '', ...others] = (pattern.startsWith('*') ? pattern : rooted(pattern))
    .split('*')
    .map(comparable)
  const text = rooted(comparable(path))
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let end = first.length
  for (const piece of others) {
    const found = text.indexOf(piece, end)
    if (found < 0) return false
    end = found + piece.length
  }
  return text.length - last.length >= end && text.endsWith(last)
}

const rooted = (path: string) => (path.startsWith('/') ? path : `/${path}`)

const comparable = (text: string) => decodePercent(text).toLowerCase()

/** One character, of one to four bytes in UTF-8. */
const encodedCharacter =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi

/** Text with its percent-encoded characters decoded; what encodes no character stays as it is. */
const decodePercent = (text: string) =>
  text.replace(encodedCharacter, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
