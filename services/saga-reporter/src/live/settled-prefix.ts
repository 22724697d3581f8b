import type { LogEntry } from '@switchyard/db'

/**
 * The entries that can be given out, and the position after them. An entry behind a gap waits: the missing one may
 * belong to a transaction that is slower to commit, and who has read on never looks back.
 *
 * @param entries visible ones after `after`, in their order
 * @param settledTo up to here nothing becomes visible that these entries lack
 * @param isAll whether they are all the visible ones
 */
export function settledPrefix(
  entries: readonly LogEntry[],
  { after, settledTo, isAll }: { after: number; settledTo: number; isAll: boolean },
): { ready: readonly LogEntry[]; position: number } {
  let position = after
  let count = 0
  for (const { sequence } of entries) {
    if (sequence !== position + 1 && sequence - 1 > settledTo) break
    position = sequence
    count += 1
  }
  const ready = entries.slice(0, count)
  // What is left lies behind a gap, thus above what is settled.
  const mayPass = isAll || count < entries.length
  return { ready, position: mayPass ? Math.max(position, settledTo) : position }
}
