import type { Project } from '@switchyard/db'
import { DomainError } from '@switchyard/domain'
import { isZeroId, type JobIdentity, type RefChange } from '@switchyard/domain/access'
import { branchesFolder, type Commit, defaultBranchRef, tagsFolder } from '@switchyard/domain/commit'
import { commitsBetween, countAncestors, findCommit, listCommits } from '@switchyard/git-storage/commits'
import { type DiffEntry, readDiff } from '@switchyard/git-storage/diffs'
import { readTagMessage } from '@switchyard/git-storage/references'
import type { Repository } from '@switchyard/git-storage/repository'
import type { HookUser } from '../../shapes/hook-parts.js'
import type { CheckedOut, PushedCommits } from '../../shapes/push-hook.js'

/** The author, the project and the options of a change of references. */
export interface Change {
  project: Project
  user: HookUser
  /** Scheme, host and port that clients use. */
  baseUrl: string
  /** Options of a push, as the client sent them. Unset: none. */
  pushOptions?: readonly string[]
  /** The CI job that pushes the new commits. Unset: none. */
  job?: JobIdentity | undefined
}

/** Most commits of one reference in the body of a webhook, as in GitLab. */
const shownCommitsMax = 20
/** Most commits before and after a push that are compared with each other to find the new ones. */
const knownCommitsMax = 500

/** Time after which the remaining commits of a push are sent without their files. */
export const comparingMs = 10_000

export function eventOf(ref: string): 'push' | 'tag_push' | null {
  if (ref.startsWith(branchesFolder)) return 'push'
  return ref.startsWith(tagsFolder) ? 'tag_push' : null
}

/**
 * Returns the commits of a change, and their number; a new branch is compared with the default branch.
 *
 * @param compareUntilMs on the clock of `performance.now()`: later commits come without their files
 */
export async function pushedCommits(
  repository: Repository,
  project: Project,
  change: RefChange,
  compareUntilMs = performance.now() + comparingMs,
): Promise<PushedCommits> {
  const { ref, before, after } = change
  const checkedOut = await readCheckedOut(repository, change)
  if (isZeroId(after) || eventOf(ref) !== 'push') return { commits: [], total: 0, checkedOut }
  const defaultRef = defaultBranchRef(project)
  const base = isZeroId(before) && ref !== defaultRef ? defaultRef : before
  const newest = (revision: string, take: number) =>
    listCommits(repository, { revision, topological: true, skip: 0, take })
  const [since, known] = await Promise.all([newest(after, knownCommitsMax), newest(base, knownCommitsMax)])
  const knownIds = new Set(known.commits.map(({ id }) => id))
  const fresh = since.commits.filter(({ id }) => !knownIds.has(id))
  // When the two lists have no commit in common, the histories may still have an older common ancestor.
  const mayHaveCommonAncestor = fresh.length === since.commits.length && knownIds.size > 0
  const between = mayHaveCommonAncestor
    ? await commitsBetween(repository, { from: base, to: after, take: 1 })
    : null
  const total =
    between?.total ??
    (knownIds.size > 0 ? fresh.length : await countAncestors(repository, { tip: after, firstParent: false }))
  const shown = fresh.slice(0, Math.min(shownCommitsMax, total)).reverse()
  return { commits: await withChanges(repository, shown, compareUntilMs), total, checkedOut }
}

/** Adds the changed files, one commit at a time, so that a push takes the memory of one comparison. */
async function withChanges(repository: Repository, shown: readonly Commit[], compareUntilMs: number) {
  const commits: PushedCommits['commits'] = []
  for (const commit of shown) {
    const inTime = performance.now() < compareUntilMs
    commits.push({ commit, changes: inTime ? await changesOf(repository, commit) : [] })
  }
  return commits
}

/** Returns the changed files of a commit; none when the commit cannot be compared with its parent. */
async function changesOf(repository: Repository, { id }: Commit): Promise<readonly DiffEntry[]> {
  try {
    return await readDiff(repository, id)
  } catch (error) {
    if (error instanceof DomainError) return []
    throw error
  }
}

/** Reads the commit of a reference after its change. An annotated tag is an object of its own. */
export async function readCheckedOut(repository: Repository, { ref, after }: RefChange): Promise<CheckedOut> {
  if (isZeroId(after)) return { commitId: null, message: null }
  if (!ref.startsWith(tagsFolder)) return { commitId: after, message: null }
  const [commit, message] = await Promise.all([
    findCommit(repository, after),
    readTagMessage(repository, after),
  ])
  return { commitId: commit?.id ?? null, message }
}
