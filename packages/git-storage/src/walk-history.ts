import type { Commit } from '@switchyard/domain/commit'
import type { Cancellable } from './cancellable.js'

export interface HistoryWalk {
  tip: Commit
  firstParent: boolean
  skip: number
  take: number
}

/** Reads a commit by its id; null when it does not exist. */
type ReadCommit = (id: string) => Promise<Commit | null>

/**
 * Commits from the tip on, newest committer date first and, of equal dates, the one that was found first, which is the order
 * of `git rev-list`.
 *
 * @returns null when a parent does not exist, as in a shallow history
 */
export async function walkHistory(
  { tip, firstParent, skip, take }: HistoryWalk,
  readCommit: ReadCommit,
  { signal }: Cancellable,
): Promise<Commit[] | null> {
  const found = new Set([tip.id])
  const queue = [tip]
  const walked: Commit[] = []
  while (walked.length < skip + take) {
    const commit = queue.shift()
    if (!commit) break
    walked.push(commit)
    for (const id of firstParent ? commit.parentIds.slice(0, 1) : commit.parentIds) {
      if (found.has(id)) continue
      found.add(id)
      signal?.throwIfAborted()
      const parent = await readCommit(id)
      if (!parent) return null
      insertByDate(queue, parent)
    }
  }
  return walked.slice(skip)
}

function insertByDate(queue: Commit[], commit: Commit): void {
  const at = queue.findIndex(({ committer }) => committer.seconds < commit.committer.seconds)
  queue.splice(at < 0 ? queue.length : at, 0, commit)
}
