const trailerKey = /^([A-Za-z0-9-]+)\s*:/
const pickedNote = /^\(cherry picked from commit [0-9a-f]+\)$/
/** What a line of trailers can begin with: a key, a continuation, a note of where it was picked. */
const fitting = /^(?:[A-Za-z0-9-]+\s*:|[ \t]|\()/
const blank = /^[ \t]*$/

/**
 * The `Key: value` lines that end a message, such as `Signed-off-by`; the last of several with one key.
 * None unless the whole last paragraph consists of them.
 */
export function trailersOf(message: string): Record<string, string> {
  const paragraph = lastParagraph(message.trimEnd())
  if (paragraph === null) return {}
  // A line that starts with a blank continues the one before it.
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

/** Null for the only one, and for one with a line that is no trailer: most messages show that in their last line. */
function lastParagraph(text: string): string | null {
  let end = text.length
  for (;;) {
    const before = text.lastIndexOf('\n', end - 1)
    if (before <= 0) return null
    const line = text.slice(before + 1, end)
    if (blank.test(line)) return text.slice(end + 1)
    if (!fitting.test(line)) return null
    end = before
  }
}
