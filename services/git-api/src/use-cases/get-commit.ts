import type { Project } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Commit } from '@switchyard/domain/commit'
import { aggregateStatus } from '@switchyard/domain/commit-status'
import type { Repository } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import type { CommitDetail } from '../presenters/commit.js'

/** @throws DomainError not-found when the revision names no commit, or cannot be one */
export async function getCommit(repository: Repository, revision: string): Promise<Commit> {
  const commit = await repository.findCommit(revision)
  if (!commit) throw notFound('Commit')
  return commit
}

/** Its id alone. @throws DomainError not-found like getCommit */
export async function getCommitId(repository: Repository, revision: string): Promise<string> {
  const id = await repository.findCommitId(revision)
  if (id === null) throw notFound('Commit')
  return id
}

/** How many commits lead to a commit, itself included. @throws DomainError not-found like getCommit */
export async function countCommits(
  { git }: Pick<Dependencies, 'git'>,
  { project }: ProjectCall,
  { revision, firstParent }: { revision: string; firstParent: boolean },
  { signal }: Pick<Call, 'signal'>,
): Promise<number> {
  const repository = git.open(project, { signal })
  const commit = await getCommit(repository, revision)
  return (await repository.listCommits({ revision: commit, firstParent, skip: 0, take: 1 })).total
}

/** A commit with its line counts, where asked for, and the state of its statuses. */
export async function describeCommit(
  { statusLookup }: Pick<Dependencies, 'statusLookup'>,
  repository: Repository,
  project: Project,
  commit: Commit,
  withStats: boolean,
): Promise<CommitDetail> {
  const [stats, statuses] = await Promise.all([
    withStats ? repository.readStats([commit.id]) : null,
    statusLookup.find(project, commit.id),
  ])
  const counted = stats ? (stats.get(commit.id) ?? null) : undefined
  return { commit, stats: counted, status: aggregateStatus(statuses) }
}
