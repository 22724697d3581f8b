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

/** The first line of the message. */
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
