import type { Database } from '@switchyard/db'
import { findCommitId } from '@switchyard/git-storage/commits'
import type { ProjectCall } from '../../guards.js'
import { findNewestPipeline, findPipelineOfRef, type PipelineWithAuthor } from '../pipelines/store.js'
import { listCommitStatuses } from '../statuses/store.js'

/** States that a badge can show when it ignores skipped pipelines. */
const unskipped = ['created', 'pending', 'running', 'success', 'failed', 'canceled', 'manual']

/**
 * Returns the state that the pipeline badge of a branch or tag shows; null when there is no pipeline.
 *
 * @param ignoreSkipped shows the newest pipeline that was not skipped, instead of the pipeline of the newest
 *   commit
 */
export async function findBadgeStatus(
  database: Database,
  { project, repository }: ProjectCall,
  ref: string,
  ignoreSkipped: boolean,
): Promise<string | null> {
  const sha = await findCommitId(repository, ref)
  if (sha === null) return null
  const pipeline = ignoreSkipped
    ? await findNewestPipeline(database, { projectId: project.id, ref, states: unskipped })
    : await findPipelineOfRef(database, { projectId: project.id, sha, ref })
  return pipeline?.status ?? null
}

/**
 * Returns the coverage in per cent of the newest successful pipeline of a branch or tag; null when there is
 * none.
 *
 * @param job name of the status whose coverage is shown, instead of the mean of all statuses
 */
export async function findBadgeCoverage(
  database: Database,
  { project }: ProjectCall,
  ref: string,
  job: string | undefined,
): Promise<number | null> {
  const pipeline = await findNewestPipeline(database, { projectId: project.id, ref, states: ['success'] })
  if (!pipeline) return null
  return job === undefined ? pipeline.coverage : coverageOfJob(database, pipeline, job)
}

async function coverageOfJob(
  database: Database,
  { projectId, sha, id }: PipelineWithAuthor,
  name: string,
): Promise<number | null> {
  const filter = { projectId, sha, pipelineId: id, name, latest: true, newestFirst: true }
  const { statuses } = await listCommitStatuses(database, filter, { skip: 0, take: 1 })
  return statuses[0]?.coverage ?? null
}
