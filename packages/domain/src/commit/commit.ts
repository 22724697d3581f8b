/** Who wrote or committed, and when, as the commit object says it. */
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
  /** As stored; a line end at its end included. */
  message: string
}

/** Lines against the first parent; binary files count nothing. */
export interface CommitStats {
  additions: number
  deletions: number
}

/** First line of the message, never cut. */
export function titleOf(message: string): string {
  const title = message.trimStart().split('\n', 1)[0]?.trimEnd()
  return title || 'No commit message'
}

/** `2016-09-20T09:26:24.000-07:00`: the signature's own offset, UTC as `+00:00`. */
export function signatureTime({ seconds, offsetMinutes }: Signature): string {
  // By its parts this takes half the time of toISOString.
  const local = new Date(clampedMs((seconds + offsetMinutes * 60) * 1000))
  const day = `${local.getUTCFullYear()}-${twoDigits(local.getUTCMonth() + 1)}-${twoDigits(local.getUTCDate())}`
  const hour = `${twoDigits(local.getUTCHours())}:${twoDigits(local.getUTCMinutes())}`
  return `${day}T${hour}:${twoDigits(local.getUTCSeconds())}.000${offsetText(offsetMinutes, ':')}`
}

const twoDigits = (value: number) => (value < 10 ? `0${value}` : String(value))

/** `+0530`, or `+05:30` with a colon as separator. */
export function offsetText(offsetMinutes: number, separator = ''): string {
  const minutes = Math.abs(offsetMinutes)
  const sign = offsetMinutes < 0 ? '-' : '+'
  return sign + twoDigits(Math.floor(minutes / 60)) + separator + twoDigits(minutes % 60)
}

/** Years of four digits; commits may claim any. */
const clampedMs = (ms: number) => Math.min(253_402_300_799_000, Math.max(0, ms))
