import type { LogEntry } from '@switchyard/db'

/**
 * The entries that can be delivered, and the position after them. An entry behind a gap waits, because the missing entry
 * may belong to a transaction that has not committed yet, and followers never read backwards.
 *
 * @param entries visible entries after `after`, in their order
 * @param settledTo no further entry up to this position becomes visible
 * @param isAll whether these are all visible entries
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
  // The entries that are left lie behind a gap, thus after `settledTo`.
  const mayPass = isAll || count < entries.length
  return { ready, position: mayPass ? Math.max(position, settledTo) : position }
}
