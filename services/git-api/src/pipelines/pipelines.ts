import type { Database, Rows } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { isRefName } from '@switchyard/domain/commit'
import { findCommit } from '@switchyard/git-storage/read-commits'
import { findTagTarget, listReferences } from '@switchyard/git-storage/references'
import { findBranchTip } from '@switchyard/git-storage/refs'
import { getCommitId } from '../commits/commits.js'
import type { ProjectCall } from '../guards.js'
import type { JobView, PipelineView } from '../shapes/repository-views.js'
import { listCommitStatuses, type StatusWithAuthor } from '../statuses/store.js'
import {
  findPipeline,
  findPipelineOfRef,
  listPipelines as listStoredPipelines,
  type PipelineFilter,
  type PipelineWithAuthor,
  type pipelineOrders,
} from './store.js'

export interface PipelineQuery extends Omit<PipelineFilter, 'projectId' | 'newestOf'> {
  /** Only the newest pipeline of each branch, or of each tag. */
  newestOf?: 'branch' | 'tag' | undefined
  order: { by: keyof typeof pipelineOrders; descending: boolean }
}

/** One page of the pipelines that a query finds, and how many it finds in all. */
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
): Promise<PipelineView> => describe(access, await getStoredPipeline(database, access, id))

/** The pipeline of the newest commit of a branch or tag. @throws DomainError not-found */
export async function getLatestPipeline(
  database: Database,
  access: ProjectCall,
  ref: string,
): Promise<PipelineView> {
  const { project, repository } = access
  const sha = await getCommitId(repository, ref)
  const pipeline = await findPipelineOfRef(database, { projectId: project.id, sha, ref })
  if (!pipeline) throw notFound('Pipeline')
  return describe(access, pipeline)
}

interface JobQuery {
  /** Undefined: every state. */
  states: readonly string[] | undefined
  /** Also statuses that a newer one of the same name replaces. */
  includeRetried: boolean
}

/** One page of the statuses of a pipeline, the newest first. @throws DomainError not-found */
export async function listJobs(
  database: Database,
  access: ProjectCall,
  id: number,
  { states, includeRetried }: JobQuery,
  rows: Rows,
): Promise<{ jobs: StatusWithAuthor[]; total: number; view: JobView }> {
  const { project, repository } = access
  const view = await getPipeline(database, access, id)
  const { sha } = view.pipeline
  const filter = { projectId: project.id, sha, pipelineId: view.pipeline.id, states }
  const order = { latest: !includeRetried, newestFirst: true }
  const { statuses, total } = await listCommitStatuses(database, { ...filter, ...order }, rows)
  return { jobs: statuses, total, view: { ...view, commit: await findCommit(repository, sha) } }
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

async function describe({ repository }: ProjectCall, pipeline: PipelineWithAuthor): Promise<PipelineView> {
  const { ref } = pipeline
  const isTag =
    ref !== null &&
    isRefName(ref) &&
    (await findBranchTip(repository, ref)) === null &&
    (await findTagTarget(repository, ref)) !== null
  return { pipeline, isTag }
}
