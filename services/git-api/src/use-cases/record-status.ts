import { findPipeline, type StatusWithAuthor } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { applyPost, type PostedState, validateStatusTexts } from '@switchyard/domain/commit-status'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { jobHook } from '../hook-payloads/job-hook.js'
import { pipelineHook } from '../hook-payloads/pipeline-hook.js'
import { getCommit } from './read-commits.js'

export interface RecordStatusCommand {
  /** Hash, branch or tag. */
  revision: string
  state: PostedState
  name: string
  ref?: string | undefined
  targetUrl?: string | undefined
  description?: string | undefined
  coverage?: number | undefined
  /** The pipeline that the status belongs to, which decides the ref. */
  pipelineId?: number | undefined
}

/**
 * Records the status that a build gives a commit. A post without a ref changes the active status of this commit and
 * name under any ref, because the branch may have moved or gone meanwhile. When there is no active status, the post
 * makes a status of the default branch if that contains the commit, else of the first branch that contains it, else of
 * no ref.
 *
 * @throws DomainError not-found for an unknown commit, and for a pipeline of another commit or ref; invalid, and nothing
 *   recorded, for texts that do not fit; unprocessable when the pipeline has 10,000 names already
 */
export async function recordStatus(
  { database, jobs, statuses, statusLookup }: Dependencies,
  { project, repository, caller }: ProjectCall<Caller>,
  command: RecordStatusCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<StatusWithAuthor> {
  validateStatusTexts(command)
  const commit = await getCommit(repository, command.revision)
  const { id: sha } = commit
  const pipeline = await findGivenPipeline(database, project.id, sha, command)
  const given = pipeline ? pipeline.ref : command.ref
  const ref = given === undefined ? await repository.findBranchContaining(sha, project.defaultBranch) : given
  const label = { projectId: project.id, sha, ref, name: command.name }
  const about = { project, commit, user: caller.user, baseUrl }
  const { status, changed } = await statuses
    .record({
      label,
      anyRef: given === undefined,
      author: caller.user,
      apply: (current, now) => applyPost(current, command, now),
      tell: (recorded) => jobHook(recorded, about),
      tellPipeline: (pipeline) => pipelineHook(pipeline, about),
    })
    // Also after a failure: the status may be recorded although its confirmation was lost.
    .finally(() => statusLookup.hasChanged(project))
  if (changed) {
    const { ref, name, status: state } = status
    jobs.announce({
      event: 'job',
      project_id: project.id,
      id: Number(status.id),
      sha,
      ref,
      name,
      status: state,
    })
  }
  return status
}

/** The pipeline that a post names; null when it names none. @throws DomainError not-found */
async function findGivenPipeline(
  { pool }: Dependencies['database'],
  projectId: number,
  sha: string,
  { pipelineId, ref }: RecordStatusCommand,
) {
  if (pipelineId === undefined) return null
  const pipeline = await findPipeline(pool, projectId, BigInt(pipelineId))
  if (pipeline?.sha === sha && (ref === undefined || ref === pipeline.ref)) return pipeline
  throw notFound('Pipeline for pipeline_id, sha and ref')
}
