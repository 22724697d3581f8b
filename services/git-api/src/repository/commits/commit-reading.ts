import { invalid, notFound } from '@switchyard/domain'
import { type Commit, defaultBranchRef, type ReferenceKind } from '@switchyard/domain/commit'
import {
  type CommitQuery,
  type Contributor,
  countAncestors,
  findCommit,
  findCommitId,
  listCommits,
  listContributors,
} from '@switchyard/git-storage/commits'
import {
  type DiffEntry,
  listChanges,
  readDiff,
  readFileDiff,
  readStats,
  type StatsOfCommits,
} from '@switchyard/git-storage/diffs'
import { hasNoBranch, listReferencesContaining } from '@switchyard/git-storage/references'
import { getOrCompute } from '@switchyard/git-storage/repository'
import type { ProjectCall } from '../../guards.js'
import type { SignatureKind } from '../../shapes/commit.js'
import {
  type CommitDescription,
  type CommitStateLookup,
  type DiffQuery,
  describeCommit,
  getCommit,
  getCommitId,
  readSignature,
} from './commits.js'

/**
 * Returns the number of commits in the history of a commit, including itself.
 *
 * @throws DomainError not-found like getCommit
 */
export async function countCommits(
  { repository }: ProjectCall,
  { revision, firstParent }: { revision: string; firstParent: boolean },
): Promise<number> {
  return countAncestors(repository, { tip: await getCommitId(repository, revision), firstParent })
}

/** Returns the kind of a commit's signature. @throws DomainError not-found, also for an unknown kind */
export async function readCommitSignature(
  { repository }: ProjectCall,
  revision: string,
): Promise<SignatureKind> {
  return readSignature(repository, await getCommitId(repository, revision))
}

/**
 * An answer of a route, made from a result. A commit never changes, so an answer about it is made once and
 * cached. The cache key has no branch names, because branches may move to other commits.
 */
export interface CachedAnswer<Result, Answer extends object> {
  /** Everything that the answer depends on besides the commit. */
  key: string
  make(result: Result): Promise<Answer>
  /** Returns the approximate memory of an answer. */
  bytesOf(answer: Answer): number
}

/** @throws DomainError not-found */
export const showCommit = async (
  statusLookup: CommitStateLookup,
  access: ProjectCall,
  revision: string,
  withStats: boolean,
): Promise<CommitDescription> =>
  describeCommit(statusLookup, access, await getCommit(access.repository, revision), withStats)

/** Reads the files that a commit changed. @throws DomainError not-found; too-large */
export async function readCommitDiff<Answer extends object>(
  { repository }: ProjectCall,
  { revision, path, withCounts }: DiffQuery & { revision: string },
  answer: CachedAnswer<DiffEntry[], Answer>,
): Promise<Answer> {
  const id = await getCommitId(repository, revision)
  const read = () => {
    if (path !== undefined) return readFileDiff(repository, [id], path)
    return withCounts ? listChanges(repository, [id]) : readDiff(repository, id)
  }
  const make = async () => answer.make(await read())
  return getOrCompute(repository, `reply ${id} ${answer.key}`, make, answer.bytesOf)
}

interface ListCommitsQuery extends Omit<CommitQuery, 'revision' | 'all'> {
  /** A branch, tag or hash. Undefined: the default branch. */
  refName: string | undefined
  /** Whether to list the commits of every reference. */
  all: boolean
  withStats: boolean
}

export interface CommitPage {
  commits: Commit[]
  /** Null: there are more than the limit of counting. */
  total: number | null
  /** Null: not requested. */
  stats: StatsOfCommits | null
}

/**
 * Lists commits, newest first; none for a reference that does not exist.
 *
 * @throws DomainError invalid for a text that cannot be a reference; too-large
 */
export async function answerCommits<Answer extends object>(
  { project, repository }: ProjectCall,
  { refName, withStats, ...query }: ListCommitsQuery,
  answer: CachedAnswer<CommitPage, Answer>,
): Promise<Answer> {
  const revision = refName ?? defaultBranchRef(project)
  if (revision.startsWith('-') || /\s/.test(revision)) throw invalid('ref_name is invalid')
  const tip = query.all ? null : await findCommit(repository, revision)
  if (!tip && !query.all) return answer.make({ commits: [], total: 0, stats: null })
  let isComplete = true
  const make = async () => {
    const { commits, total } = await listCommits(repository, { ...query, revision: tip ?? revision })
    const stats = withStats
      ? await readStats(
          repository,
          commits.map(({ id }) => id),
        )
      : null
    isComplete = stats === null || commits.every(({ id }) => stats.has(id))
    return answer.make({ commits, total, stats })
  }
  if (!tip) return make()
  // A comparison that has failed may succeed for the next request, so an answer without its numbers is not
  // cached.
  const bytesOf = (made: Answer) => (isComplete ? answer.bytesOf(made) : Number.POSITIVE_INFINITY)
  return getOrCompute(repository, `reply ${tip.id} ${answer.key}`, make, bytesOf)
}

interface CommitReference {
  type: ReferenceKind
  name: string
}

/**
 * Lists the branches and tags that contain a commit, branches first, each by name.
 *
 * @throws DomainError not-found when the revision names no commit
 */
export async function listCommitReferences(
  { repository }: ProjectCall,
  { revision, type }: { revision: string; type: 'all' | ReferenceKind },
): Promise<CommitReference[]> {
  const id = await getCommitId(repository, revision)
  const kinds: ReferenceKind[] = type === 'all' ? ['branch', 'tag'] : [type]
  const names = await Promise.all(kinds.map((kind) => listReferencesContaining(repository, id, kind)))
  return kinds.flatMap((kind, index) => (names[index] ?? []).map((name) => ({ type: kind, name })))
}

interface ContributorQuery {
  /** A branch, tag or hash; undefined: the default branch. */
  revision: string | undefined
  order: 'commits' | 'name' | 'email'
  descending: boolean
}

/** Approximate memory of a contributor. */
const contributorBytes = 200

/**
 * Lists the authors of the commits in the history of a revision. An empty repository has none.
 *
 * @throws DomainError not-found for a revision that names no commit
 */
export async function listAuthors(
  { project, repository }: ProjectCall,
  { revision, order, descending }: ContributorQuery,
): Promise<Contributor[]> {
  const id = await findCommitId(repository, revision ?? defaultBranchRef(project))
  if (id === null && (revision === undefined || (await hasNoBranch(repository)))) return []
  if (id === null) throw notFound('Ref')
  const found = await getOrCompute(
    repository,
    `contributors ${id}`,
    () => listContributors(repository, id),
    ({ length }) => length * contributorBytes,
  )
  const sorted = found.toSorted((a, b) =>
    order === 'commits' ? a.commits - b.commits : compareText(a[order], b[order]),
  )
  return descending ? sorted.reverse() : sorted
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
