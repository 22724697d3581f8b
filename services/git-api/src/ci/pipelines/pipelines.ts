import { type Database, enqueueForProject, inPoolTransaction, type Rows } from '@switchyard/db'
import { notFound, notSupported } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { type Commit, isRefName } from '@switchyard/domain/commit'
import { findBranchTip } from '@switchyard/git-storage/find-refs'
import { findTagTarget, listReferences } from '@switchyard/git-storage/list-refs'
import type { ProjectCall } from '../../guards.js'
import { getCommit, getCommitId } from '../../repository/commits/commits.js'
import { retryHook } from '../../shapes/status-hooks.js'
import {
  findPipeline,
  findPipelineOfRef,
  findPipelineWithJobs,
  listPipelines as listStoredPipelines,
  type PipelineFilter,
  type PipelineWithAuthor,
  type pipelineOrders,
} from './store.js'

/** A pipeline, and whether its ref is a tag. */
export interface PipelineView {
  pipeline: PipelineWithAuthor
  /** Whether its ref is a tag and no branch. */
  isTag: boolean
}

/** The fields that the jobs of a pipeline share. */
export interface JobView extends PipelineView {
  /** Null when the repository no longer has the commit. */
  commit: Commit | null
}

export interface PipelineQuery extends Omit<PipelineFilter, 'projectId' | 'newestOf'> {
  /** Only the newest pipeline of each branch, or of each tag. */
  newestOf?: 'branch' | 'tag' | undefined
  order: { by: keyof typeof pipelineOrders; descending: boolean }
}

/** Returns one page of the pipelines that match, and the number of all of them. */
export async function listPipelines(
  database: Database,
  { project, repository }: ProjectCall,
  { newestOf, order, ...filter }: PipelineQuery,
  rows: Rows,
): Promise<{ pipelines: PipelineWithAuthor[]; total: number }> {
  const references =
    newestOf && (await listReferences(repository, { kind: newestOf, order: 'name', descending: false }))
  const names = references?.map(({ name }) => name)
  return listStoredPipelines(database, { ...filter, projectId: project.id, newestOf: names }, order, rows)
}

/** @throws DomainError not-found */
export const getPipeline = async (
  database: Database,
  access: ProjectCall,
  id: number,
): Promise<PipelineView> => describePipeline(access, await getStoredPipeline(database, access, id))

/** Returns the pipeline of the newest commit of a branch or tag. @throws DomainError not-found */
export async function getLatestPipeline(
  database: Database,
  access: ProjectCall,
  ref: string,
): Promise<PipelineView> {
  const { project, repository } = access
  const sha = await getCommitId(repository, ref)
  const pipeline = await findPipelineOfRef(database, { projectId: project.id, sha, ref })
  if (!pipeline) throw notFound('Pipeline')
  return describePipeline(access, pipeline)
}

/**
 * Asks the CI system through the pipeline webhooks to run a pipeline again. The pipeline itself changes when
 * the CI system posts statuses.
 *
 * @throws DomainError not-found; not-supported when no webhook subscribes to pipelines
 */
export async function requestRetry(
  { pool }: Database,
  access: ProjectCall<Caller>,
  id: number,
  { baseUrl }: { baseUrl: string },
): Promise<PipelineView> {
  const { project, repository, caller } = access
  const pipeline = await findPipelineWithJobs(pool, project.id, BigInt(id))
  if (!pipeline) throw notFound()
  const commit = await getCommit(repository, pipeline.sha)
  const about = { project, commit, user: caller.user, baseUrl }
  let isTold = false
  const makeDelivery = () => {
    isTold = true
    return retryHook(pipeline, about)
  }
  await inPoolTransaction(pool, (client) => enqueueForProject(client, project.id, 'pipeline', makeDelivery))
  if (!isTold)
    throw notSupported(
      'Switchyard runs no pipelines, and the project has no webhook that would tell a CI system',
    )
  return describePipeline(access, pipeline)
}

async function getStoredPipeline(
  database: Database,
  { project }: ProjectCall,
  id: number,
): Promise<PipelineWithAuthor> {
  const pipeline = await findPipeline(database.pool, project.id, BigInt(id))
  if (!pipeline) throw notFound()
  return pipeline
}

/** Returns a pipeline with whether its ref is a tag. */
export async function describePipeline(
  { repository }: ProjectCall,
  pipeline: PipelineWithAuthor,
): Promise<PipelineView> {
  const { ref } = pipeline
  const isTag =
    ref !== null &&
    isRefName(ref) &&
    (await findBranchTip(repository, ref)) === null &&
    (await findTagTarget(repository, ref)) !== null
  return { pipeline, isTag }
}
