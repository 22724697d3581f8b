import { excerpt, invalid, notFound } from '@switchyard/domain'
import type { Commit } from '@switchyard/domain/commit'
import { commitsBetween, findCommit, findCommitId, findMergeBase } from '@switchyard/git-storage/commits'
import {
  type DiffEntry,
  diffBetween,
  diffFromMergeBase,
  listChanges,
  readFileDiff,
} from '@switchyard/git-storage/diffs'
import { isTooHard } from '@switchyard/git-storage/processes'
import { getOrCompute, type Repository } from '@switchyard/git-storage/repository'
import type { ProjectCall } from '../../guards.js'
import type { DiffQuery } from '../commits/commits.js'

/** The commits and changes that one revision has and another does not. */
export interface Comparison {
  /** Oldest first. */
  commits: Commit[]
  /** Number of commits, including those left out. */
  commitsTotal: number
  diffs: DiffEntry[]
  /**
   * Whether git could not compare the revisions within its time or memory, or left out a patch because of a
   * limit.
   */
  isIncomplete: boolean
  isSame: boolean
}

/** Most commits in one comparison, which has the newest ones. */
const commitsMax = 1000

interface ComparisonQuery extends DiffQuery {
  /** A branch, tag or hash. */
  from: string
  to: string
  /** true: `to` is compared with `from` itself; false: with the merge base of both. */
  isStraight: boolean
}

/**
 * Returns the commits of `to` that `from` does not have, and the differences of their files.
 *
 * @throws DomainError not-found for a revision that names no commit
 */
export async function compareRevisions(
  { repository }: ProjectCall,
  query: ComparisonQuery,
): Promise<Comparison> {
  const [from, to] = await Promise.all([
    findCommitId(repository, query.from),
    findCommitId(repository, query.to),
  ])
  if (from === null || to === null) throw notFound('Ref')
  if (from === to) {
    return { commits: [], commitsTotal: 0, diffs: [], isIncomplete: false, isSame: true }
  }
  const [{ ids, total }, diffs] = await Promise.all([
    commitsBetween(repository, { from, to, take: commitsMax }),
    unlessTooHard(() => readDiffs(repository, { from, to }, query)),
  ])
  const commits = await Promise.all(ids.map((id) => findCommit(repository, id)))
  return {
    commits: commits.filter((commit) => commit !== null),
    commitsTotal: total,
    diffs: diffs ?? [],
    isIncomplete: diffs === null || diffs.some(({ tooLarge }) => tooLarge),
    isSame: false,
  }
}

/** @returns null when git needs too much time or memory */
async function unlessTooHard<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work()
  } catch (error) {
    if (isTooHard(error)) return null
    throw error
  }
}

interface Ends {
  from: string
  to: string
}

async function readDiffs(
  repository: Repository,
  { from, to }: Ends,
  { path, withCounts, isStraight }: ComparisonQuery,
): Promise<DiffEntry[]> {
  const isWhole = path === undefined && !withCounts
  if (isWhole && !isStraight) {
    // git finds the merge base itself here, which saves a separate command.
    const read = () => diffFromMergeBase(repository, from, to)
    const since = await cached(repository, `diff ${from}...${to}`, read)
    if (since) return since
  }
  // Without a common ancestor, the revisions themselves are compared.
  const base = isStraight ? from : ((await findMergeBase(repository, [from, to])) ?? from)
  if (path !== undefined) return readFileDiff(repository, [base, to], path)
  if (withCounts) return listChanges(repository, [base, to])
  return (await cached(repository, `diff ${base} ${to}`, () => diffBetween(repository, base, to))) ?? []
}

async function cached(
  repository: Repository,
  key: string,
  read: () => Promise<DiffEntry[] | null>,
): Promise<DiffEntry[] | null> {
  const { entries } = await getOrCompute(
    repository,
    key,
    async () => ({ entries: await read() }),
    ({ entries }) => (entries ?? []).reduce((sum, { patch }) => sum + 2 * patch.length + 500, 0),
  )
  return entries
}

/**
 * Finds the newest common ancestor of several revisions.
 *
 * @throws DomainError invalid for fewer than two revisions, and for a revision that names no commit;
 *   not-found when the revisions have no common ancestor
 */
export async function resolveMergeBase(
  { repository }: ProjectCall,
  revisions: readonly string[],
): Promise<Commit> {
  if (revisions.length < 2) throw invalid('Provide at least 2 refs')
  const ids = await Promise.all(revisions.map((revision) => findCommitId(repository, revision)))
  const unknown = revisions.filter((_, index) => ids[index] === null)
  if (unknown.length > 0) {
    throw invalid(
      `Could not find ${unknown.length === 1 ? 'ref' : 'refs'}: ${unknown.map((ref) => excerpt(ref)).join(', ')}`,
    )
  }
  const base = await findMergeBase(
    repository,
    ids.filter((id) => id !== null),
  )
  const commit = base === null ? null : await findCommit(repository, base)
  if (!commit) throw notFound('Merge Base')
  return commit
}
