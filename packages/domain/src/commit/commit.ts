/** The author or committer of a commit, with the time. */
export interface Signature {
  name: string
  email: string
  /** Seconds since 1970, UTC. */
  seconds: number
  /** Minutes east of UTC. */
  offsetMinutes: number
}

export interface Commit {
  id: string
  treeId: string
  parentIds: string[]
  author: Signature
  committer: Signature
  /** As stored, including a line break at the end. */
  message: string
}

/** Number of changed lines against the first parent, without binary files. */
export interface CommitStats {
  additions: number
  deletions: number
}

/** Returns the first line of the message. */
export function titleOf(message: string): string {
  const title = message.trimStart().split('\n', 1)[0]?.trimEnd()
  return title || 'No commit message'
}

/** Formats the time with the offset of the signature, such as `2016-09-20T09:26:24.000-07:00`. */
export function signatureTime({ seconds, offsetMinutes }: Signature): string {
  const local = new Date(clampedMs((seconds + offsetMinutes * 60) * 1000))
  return local.toISOString().replace('Z', offsetText(offsetMinutes, ':'))
}

const twoDigits = (value: number) => (value < 10 ? `0${value}` : String(value))

/** Formats an offset as `+0530`, or as `+05:30` with a colon as the separator. */
export function offsetText(offsetMinutes: number, separator = ''): string {
  const minutes = Math.abs(offsetMinutes)
  const sign = offsetMinutes < 0 ? '-' : '+'
  return sign + twoDigits(Math.floor(minutes / 60)) + separator + twoDigits(minutes % 60)
}

/** Limits a time to the years 1970 to 9999, because a commit may contain any time. */
const clampedMs = (ms: number) => Math.min(253_402_300_799_000, Math.max(0, ms))

const trailerKey = /^([A-Za-z0-9-]+)\s*:/
const pickedNote = /^\(cherry picked from commit [0-9a-f]+\)$/

/**
 * Returns the trailers of a message, such as `Signed-off-by`: `Key: value` lines of its last paragraph. The
 * last value of a key counts. Empty when the message has one paragraph, or when its last paragraph has
 * another line.
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
