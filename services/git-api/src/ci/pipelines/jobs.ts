import type { Database, Rows } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { findCommit } from '@switchyard/git-storage/commits'
import type { ProjectCall } from '../../guards.js'
import { findStatus, listCommitStatuses, listStatuses, type StatusWithAuthor } from '../statuses/store.js'
import type { JobView } from './pipelines.js'
import { describePipeline, getPipeline } from './pipelines.js'
import { findPipelines, type PipelineWithAuthor } from './store.js'

interface JobQuery {
  /** Undefined: every state. */
  states: readonly string[] | undefined
  /** Whether to include statuses that a newer one of the same name replaces. */
  includeRetried: boolean
}

/** A status and the fields of its pipeline that it shows. */
interface Job {
  job: StatusWithAuthor
  view: JobView
}

/** Returns one page of the statuses of a pipeline, newest first. @throws DomainError not-found */
export async function listJobs(
  database: Database,
  access: ProjectCall,
  id: number,
  { states, includeRetried }: JobQuery,
  rows: Rows,
): Promise<{ jobs: Job[]; total: number }> {
  const { pipeline } = await getPipeline(database, access, id)
  const { projectId, sha } = pipeline
  const filter = { projectId, sha, pipelineId: pipeline.id, states }
  const order = { latest: !includeRetried, newestFirst: true }
  const { statuses, total } = await listCommitStatuses(database, { ...filter, ...order }, rows)
  const view = await viewOf(access, pipeline)
  return { jobs: statuses.map((job) => ({ job, view })), total }
}

/** Returns one page of the statuses of a project, newest first. @param states undefined: every state */
export async function listJobsOfProject(
  database: Database,
  access: ProjectCall,
  states: readonly string[] | undefined,
  rows: Rows,
): Promise<Job[]> {
  const filter = { projectId: access.project.id, states, latest: false, newestFirst: true }
  return addViews(database, access, await listStatuses(database, filter, rows))
}

/** @throws DomainError not-found */
export async function getJob(database: Database, access: ProjectCall, id: number): Promise<Job> {
  const found = await findStatus(database, access.project.id, BigInt(id))
  const [job] = found ? await addViews(database, access, [found]) : []
  if (!job) throw notFound()
  return job
}

/**
 * Returns the address that a status was posted with.
 *
 * @throws DomainError not-found, also for a status without an address
 */
export async function getTraceUrl(database: Database, { project }: ProjectCall, id: number): Promise<string> {
  const found = await findStatus(database, project.id, BigInt(id))
  if (!found) throw notFound()
  if (found.targetUrl === null) throw notFound('Trace')
  return found.targetUrl
}

async function addViews(
  database: Database,
  access: ProjectCall,
  statuses: StatusWithAuthor[],
): Promise<Job[]> {
  const ids = [...new Set(statuses.map(({ pipelineId }) => pipelineId))]
  const pipelines = await findPipelines(database, access.project.id, ids)
  const views = new Map<bigint, JobView>()
  // Reads the pipelines one after the other, so that a request for a page takes a single slot of git.
  for (const [id, pipeline] of pipelines) views.set(id, await viewOf(access, pipeline))
  return statuses.flatMap((job) => {
    const view = views.get(job.pipelineId)
    return view ? [{ job, view }] : []
  })
}

const viewOf = async (access: ProjectCall, pipeline: PipelineWithAuthor): Promise<JobView> => ({
  ...(await describePipeline(access, pipeline)),
  commit: await findCommit(access.repository, pipeline.sha),
})
