import { conflict, excerpt } from '@switchyard/domain'
import type { Repository } from '../repository.js'

/** Most attempts of a writer that has the lock, because other processes may move the branch. */
const attemptsMax = 20

const keyOf = (path: string, branch: string) => `${path} ${branch}`

/**
 * Returns whether another writer has the lock of the branch. A new writer should then wait for it by {@link
 * withBranchLock}.
 */
export const isBranchLocked = ({ engine, path }: Repository, branch: string): boolean =>
  engine.branchLocks.isLocked(keyOf(path, branch))

/**
 * Runs the writers of a branch one after the other: those that lost a race for the branch, and those that
 * come meanwhile. In parallel, all but one would create a commit in vain each time. The order holds within
 * this process only.
 *
 * @param attempt returns null when the branch has moved, and undefined when it was deleted
 * @throws DomainError conflict when the branch is deleted or keeps moving; the reason of the repository's
 * signal when it is aborted before the writer has the lock; the error of an attempt
 */
export function withBranchLock<Result>(
  { engine, path, signal }: Repository,
  branch: string,
  attempt: () => Promise<Result | null | undefined>,
): Promise<Result> {
  const write = async () => {
    for (let count = 0; count < attemptsMax; count += 1) {
      const result = await attempt()
      if (result) return result
      if (result === undefined) break
    }
    throw movedMeanwhile(branch)
  }
  return engine.branchLocks.run(keyOf(path, branch), write, signal)
}

export const movedMeanwhile = (branch: string) =>
  conflict(`The branch ${excerpt(branch)} was changed meanwhile. Please refresh and try again`)
