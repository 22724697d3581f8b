import type { Project } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Commit } from '@switchyard/domain/commit'
import { aggregateStatus } from '@switchyard/domain/commit-status'
import type { Dependencies } from '../dependencies.js'
import type { Repository } from '../git/git.js'
import type { CommitDetail } from '../presenters/commit.js'

/** @throws DomainError not-found when the revision names no commit, or cannot be one */
export async function getCommit(repository: Repository, revision: string): Promise<Commit> {
  const commit = await repository.findCommit(revision)
  if (!commit) throw notFound('Commit')
  return commit
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
    withStats ? repository.readStats([commit.id]) : undefined,
    statusLookup.find(project, commit.id),
  ])
  return { commit, stats: stats?.get(commit.id), status: aggregateStatus(statuses) }
}
