import { hasCommitStatus, listCommitStatuses } from '@switchyard/db'
import type { Dependencies, Rows } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { getCommitId } from './read-commits.js'

export interface StatusQuery {
  /** Hash, branch or tag. */
  revision: string
  ref?: string | undefined
  stage?: string | undefined
  name?: string | undefined
  pipelineId?: number | undefined
  all: boolean
  newestFirst: boolean
  /** Statuses of one pipeline stand together. */
  byPipeline: boolean
}

/**
 * Statuses of a commit. Without a ref and a pipeline: the statuses of the default branch, or of every ref when the default
 * branch has none for this commit.
 *
 * @throws DomainError not-found for an unknown commit
 */
export async function listStatuses(
  { database }: Dependencies,
  { project, repository }: ProjectCall,
  { revision, ref, pipelineId, all, ...query }: StatusQuery,
  rows: Rows,
) {
  const sha = await getCommitId(repository, revision)
  const filter = { projectId: project.id, sha, latest: !all, ...query }
  if (pipelineId !== undefined) {
    return listCommitStatuses(database, { ...filter, ref, pipelineId: BigInt(pipelineId) }, rows)
  }
  const page = await listCommitStatuses(database, { ...filter, ref: ref ?? project.defaultBranch }, rows)
  if (ref !== undefined || page.total > 0) return page
  const ofDefault = { projectId: project.id, sha, ref: project.defaultBranch }
  return (await hasCommitStatus(database, ofDefault)) ? page : listCommitStatuses(database, filter, rows)
}
