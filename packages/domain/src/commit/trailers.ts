const trailer = /^([A-Za-z0-9-]+)\s*:\s*(.*)$/
/** What the last line of trailers can begin with: a key, a continuation, a note of where it was picked. */
const lastOfTrailers = /^(?:[A-Za-z0-9-]+\s*:|[ \t]|\()/
const pickedNote = /^\(cherry picked from commit [0-9a-f]+\)$/

/**
 * The `Key: value` lines that end a message, such as `Signed-off-by`; the last of several with one key.
 * None unless the whole last paragraph consists of them.
 */
export function trailersOf(message: string): Record<string, string> {
  const text = message.trimEnd()
  // Most messages have none, which their last line alone shows.
  if (!lastOfTrailers.test(text.slice(text.lastIndexOf('\n') + 1))) return {}
  const paragraphs = text.split(/\n[ \t]*\n/)
  if (paragraphs.length < 2) return {}
  // A line that starts with a blank continues the one before it.
  const lines = (paragraphs.at(-1) ?? '').replace(/\n[ \t]+/g, ' ').split('\n')
  const pairs = lines.filter((line) => !pickedNote.test(line)).map((line) => trailer.exec(line))
  if (pairs.some((pair) => pair === null)) return {}
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', (pair?.[2] ?? '').trimEnd()]))
}
