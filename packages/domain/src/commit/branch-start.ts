import { invalid } from '../errors.js'

/** Where a new commit is to stand, as asked for and as the repository is. */
export interface BranchStart {
  branch: string
  /** Commit of the branch; null when there is no such branch. */
  tip: string | null
  /** Commit that `start_branch` or `start_sha` names; undefined when neither was sent. */
  start: string | undefined
  /** Whether the repository has no branch at all. */
  empty: boolean
  force: boolean
}

export interface BranchMove {
  /** First parent of the new commit; null: it has none. */
  parent: string | null
  /** The branch leaves commits behind. */
  forced: boolean
}

/**
 * Decides on which commit a new one is built.
 *
 * @throws DomainError invalid when the branch does not exist, or exists elsewhere than asked for
 */
export function branchStart({ branch, tip, start, empty, force }: BranchStart): BranchMove {
  if (start === undefined) {
    if (tip === null && !empty) throw invalid('You can only create or edit files when you are on a branch')
    return { parent: tip, forced: false }
  }
  if (tip === null || tip === start) return { parent: start, forced: false }
  if (!force) {
    throw invalid(
      `A branch called '${branch}' already exists. Switch to that branch in order to make changes`,
    )
  }
  return { parent: start, forced: true }
}
