import { invalid, notFound } from '@switchyard/domain'
import type { Commit, CommitStats } from '@switchyard/domain/commit'
import type { CommitQuery, DiffEntry, Repository, StatsOfCommits } from '@switchyard/git-storage'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import type { SignatureKind } from '../repository-views.js'
import type { CommitState } from '../status-lookup.js'

/** @throws DomainError not-found when the revision names no commit, or cannot be one */
export async function getCommit(repository: Repository, revision: string): Promise<Commit> {
  const commit = await repository.findCommit(revision)
  if (!commit) throw notFound('Commit')
  return commit
}

/** The id of the commit that a revision names. @throws DomainError not-found like getCommit */
export async function getCommitId(repository: Repository, revision: string): Promise<string> {
  const id = await repository.findCommitId(revision)
  if (id === null) throw notFound('Commit')
  return id
}

/** The number of commits in the history of a commit, itself included. @throws DomainError not-found like getCommit */
export async function countCommits(
  { repository }: ProjectCall,
  { revision, firstParent }: { revision: string; firstParent: boolean },
): Promise<number> {
  const commit = await getCommit(repository, revision)
  return (await repository.listCommits({ revision: commit, firstParent, skip: 0, take: 1 })).total
}

/** How signatures begin. */
const signatureStarts: Record<SignatureKind, string> = {
  PGP: '-----BEGIN PGP ',
  SSH: '-----BEGIN SSH SIGNATURE-----',
  X509: '-----BEGIN SIGNED MESSAGE-----',
}

/** How a commit is signed. @throws DomainError not-found, also for a signature of an unknown kind */
export async function readCommitSignature(
  { repository }: ProjectCall,
  revision: string,
): Promise<SignatureKind> {
  return readSignature(repository, await getCommitId(repository, revision))
}

/** @param id of a commit or a tag @throws DomainError not-found without a signature, or for one of an unknown kind */
export async function readSignature(repository: Repository, id: string): Promise<SignatureKind> {
  const signature = await repository.readSignatureText(id)
  const kinds = Object.keys(signatureStarts) as SignatureKind[]
  const kind = kinds.find((candidate) => signature?.startsWith(signatureStarts[candidate]))
  if (!kind) throw notFound('Signature')
  return kind
}

export interface CommitDescription extends CommitState {
  commit: Commit
  /** Undefined: not requested. Null: the commit could not be compared with its parent. */
  stats: CommitStats | null | undefined
}

/** Adds the numbers of changed lines, if requested, and the state that follows from the statuses. */
export async function describeCommit(
  { statusLookup }: Dependencies,
  { project, repository }: ProjectCall,
  commit: Commit,
  withStats: boolean,
): Promise<CommitDescription> {
  const [stats, state] = await Promise.all([
    withStats ? repository.readStats([commit.id]) : null,
    statusLookup.find(project, commit.id),
  ])
  const counted = stats ? (stats.get(commit.id) ?? null) : undefined
  return { commit, stats: counted, ...state }
}

/**
 * How a route makes its answer from a result. A commit never changes, so an answer about it is made once and then taken from
 * the cache. The cache does not depend on names of branches, which may move to other commits.
 */
export interface CachedAnswer<Result, Answer extends object> {
  /** Everything that the answer depends on besides the commit. */
  key: string
  make(result: Result): Promise<Answer>
  /** Memory of an answer, roughly. */
  bytesOf(answer: Answer): number
}

/** @throws DomainError not-found */
export const showCommit = async (
  deps: Dependencies,
  access: ProjectCall,
  revision: string,
  withStats: boolean,
): Promise<CommitDescription> =>
  describeCommit(deps, access, await getCommit(access.repository, revision), withStats)

export interface DiffQuery {
  /** Old or new path of the only file to show; undefined: every file. */
  path: string | undefined
  /** The numbers of lines instead of texts. */
  withCounts: boolean
}

/** The files that a commit changed. @throws DomainError not-found; too-large */
export async function readDiff<Answer extends object>(
  { repository }: ProjectCall,
  { revision, path, withCounts }: DiffQuery & { revision: string },
  answer: CachedAnswer<DiffEntry[], Answer>,
): Promise<Answer> {
  const id = await getCommitId(repository, revision)
  const read = () => {
    if (path !== undefined) return repository.readFileDiff([id], path)
    return withCounts ? repository.listChanges([id]) : repository.readDiff(id)
  }
  const make = async () => answer.make(await read())
  return repository.getOrCompute(`reply ${id} ${answer.key}`, make, answer.bytesOf)
}

export interface ListCommitsQuery extends Omit<CommitQuery, 'revision' | 'all'> {
  /** Branch, tag or hash. Undefined: the default branch. */
  refName: string | undefined
  /** The commits of every reference. */
  all: boolean
  withStats: boolean
}

export interface CommitPage {
  commits: Commit[]
  total: number
  /** Null: not requested. */
  stats: StatsOfCommits | null
}

/**
 * Commits, the newest first; none for a reference that does not exist.
 *
 * @throws DomainError invalid for a text that cannot be a reference; too-large
 */
export async function listCommits<Answer extends object>(
  { project, repository }: ProjectCall,
  { refName, withStats, ...query }: ListCommitsQuery,
  answer: CachedAnswer<CommitPage, Answer>,
): Promise<Answer> {
  const revision = refName ?? `refs/heads/${project.defaultBranch}`
  if (revision.startsWith('-') || /\s/.test(revision)) throw invalid('ref_name is invalid')
  const tip = query.all ? null : await repository.findCommit(revision)
  if (!tip && !query.all) return answer.make({ commits: [], total: 0, stats: null })
  let isComplete = true
  const make = async () => {
    const { commits, total } = await repository.listCommits({ ...query, revision: tip ?? revision })
    const stats = withStats ? await repository.readStats(commits.map(({ id }) => id)) : null
    isComplete = stats === null || commits.every(({ id }) => stats.has(id))
    return answer.make({ commits, total, stats })
  }
  if (!tip) return make()
  // A comparison that failed now may succeed for the next request, so an answer without its numbers is not cached.
  const bytesOf = (made: Answer) => (isComplete ? answer.bytesOf(made) : Number.POSITIVE_INFINITY)
  return repository.getOrCompute(`reply ${tip.id} ${answer.key}`, make, bytesOf)
}
