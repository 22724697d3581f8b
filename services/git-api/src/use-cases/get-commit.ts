import { notFound } from '@switchyard/domain'
import type { Commit, CommitStats } from '@switchyard/domain/commit'
import { aggregateStatus } from '@switchyard/domain/commit-status'
import type { Repository } from '@switchyard/git-storage'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'

/** @throws DomainError not-found when the revision names no commit, or cannot be one */
export async function getCommit(repository: Repository, revision: string): Promise<Commit> {
  const commit = await repository.findCommit(revision)
  if (!commit) throw notFound('Commit')
  return commit
}

/** The id of a commit, without reading it. @throws DomainError not-found like getCommit */
export async function getCommitId(repository: Repository, revision: string): Promise<string> {
  const id = await repository.findCommitId(revision)
  if (id === null) throw notFound('Commit')
  return id
}

export interface CommitDescription {
  commit: Commit
  /** Undefined: not asked for. Null: the commit could not be compared. */
  stats: CommitStats | null | undefined
  /** The state that follows from all statuses of the commit; null without any. */
  status: string | null
}

/** Adds the numbers of changed lines, where asked for, and the state of the statuses. */
export async function describeCommit(
  { statusLookup }: Dependencies,
  { project, repository }: ProjectCall,
  commit: Commit,
  withStats: boolean,
): Promise<CommitDescription> {
  const [stats, statuses] = await Promise.all([
    withStats ? repository.readStats([commit.id]) : null,
    statusLookup.find(project, commit.id),
  ])
  const counted = stats ? (stats.get(commit.id) ?? null) : undefined
  return { commit, stats: counted, status: aggregateStatus(statuses) }
}
