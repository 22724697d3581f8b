const trailerKey = /^([A-Za-z0-9-]+)\s*:/
const pickedNote = /^\(cherry picked from commit [0-9a-f]+\)$/

/**
 * The trailers of a message, such as `Signed-off-by`: `Key: value` lines of its last paragraph. The last of several values of
 * a key counts. Empty when the message has one paragraph, or when its last paragraph has another line.
 */
export function trailersOf(message: string): Record<string, string> {
  const [paragraph, ...earlier] = message
    .trim()
    .split(/\n[ \t]*\n/)
    .reverse()
  if (paragraph === undefined || earlier.length === 0) return {}
  // A line that starts with a blank continues the previous one.
  const lines = paragraph.replace(/\n[ \t]+/g, ' ').split('\n')
  const pairs: [string, string][] = []
  for (const line of lines) {
    if (pickedNote.test(line)) continue
    const found = trailerKey.exec(line)
    if (!found) return {}
    pairs.push([found[1] ?? '', line.slice(found[0].length).trim()])
  }
  return Object.fromEntries(pairs)
}
