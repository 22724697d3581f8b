import { invalid } from '../errors.js'

/** The requested branch of a new commit and the state of the repository. */
export interface BranchStart {
  branch: string
  /** Commit of the branch; null: there is no such branch. */
  tip: string | null
  /** Commit of `start_branch` or `start_sha`; undefined: neither was sent. */
  start: string | undefined
  /** Whether the repository has no branch at all. */
  empty: boolean
  force: boolean
}

export interface BranchMove {
  /** First parent of the new commit; null: a root commit. */
  parent: string | null
  /** Whether the branch loses commits. */
  forced: boolean
}

/**
 * Decides about the parent of a new commit.
 *
 * @throws DomainError invalid when the branch does not exist, or exists and does not point to the requested
 *   start
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
