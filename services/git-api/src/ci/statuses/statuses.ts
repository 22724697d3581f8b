import type { Database, Rows } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { applyPost, type StatusPost, validateStatusTexts } from '@switchyard/domain/commit-status'
import { findBranchContaining } from '@switchyard/git-storage/references'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import type { OutgoingMessages } from '../../outgoing-messages.js'
import { getCommit, getCommitId } from '../../repository/commits/commits.js'
import { jobHook, pipelineHook } from '../../shapes/status-hooks.js'
import { findPipeline } from '../pipelines/store.js'
import type { StatusLookup } from './status-lookup.js'
import type { StatusRecorder } from './status-recorder.js'
import { hasCommitStatus, listCommitStatuses, type StatusWithAuthor } from './store.js'

export interface StatusDependencies extends ProjectResourceDependencies {
  messages: OutgoingMessages
  statuses: StatusRecorder
  statusLookup: StatusLookup
}

interface RecordStatusCommand extends StatusPost {
  /** A hash, branch or tag. */
  revision: string
  name: string
  ref?: string | undefined
  /** The pipeline that the status belongs to, which decides the ref. */
  pipelineId?: number | undefined
}

/**
 * Records the status that a build gives a commit. A post without a ref changes the active status of this
 * commit and name under any ref, because the branch may have moved or been deleted meanwhile. When there is
 * no active status, the post creates a status of the default branch if that contains the commit, otherwise of
 * the first branch that contains it, otherwise without a ref.
 *
 * @throws DomainError not-found for an unknown commit, and for a pipeline of another commit or ref; invalid,
 *   and nothing recorded, for texts that do not fit; unprocessable when the pipeline has 10,000 names already
 */
export async function recordStatus(
  { database, messages, statuses, statusLookup }: StatusDependencies,
  { project, repository, caller }: ProjectCall<Caller>,
  command: RecordStatusCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<StatusWithAuthor> {
  validateStatusTexts(command)
  const commit = await getCommit(repository, command.revision)
  const { id: sha } = commit
  const pipeline = await findGivenPipeline(database, project.id, sha, command)
  const given = pipeline ? pipeline.ref : command.ref
  const ref = given === undefined ? await findBranchContaining(repository, sha, project.defaultBranch) : given
  const key = { projectId: project.id, sha, ref, name: command.name }
  const about = { project, commit, user: caller.user, baseUrl }
  const { status, changed } = await statuses
    .record({
      key,
      anyRef: given === undefined,
      author: caller.user,
      job: caller.token.job ?? null,
      apply: (current, now) => applyPost(current, command, now),
      delivery: (recorded) => jobHook(recorded, about),
      pipelineDelivery: (pipeline) => pipelineHook(pipeline, about),
    })
    // The mark is also written after a failure, because the status may be recorded although its confirmation
    // was lost.
    .finally(() => statusLookup.invalidate(project))
  if (changed) {
    const { ref, name, status: state } = status
    messages.announce({
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

/** Returns the pipeline that a post names; null when it names none. @throws DomainError not-found */
async function findGivenPipeline(
  { pool }: Database,
  projectId: number,
  sha: string,
  { pipelineId, ref }: RecordStatusCommand,
) {
  if (pipelineId === undefined) return null
  const pipeline = await findPipeline(pool, projectId, BigInt(pipelineId))
  if (pipeline?.sha === sha && (ref === undefined || ref === pipeline.ref)) return pipeline
  throw notFound('Pipeline for pipeline_id, sha and ref')
}

interface StatusQuery {
  /** A hash, branch or tag. */
  revision: string
  ref?: string | undefined
  stage?: string | undefined
  name?: string | undefined
  pipelineId?: number | undefined
  all: boolean
  newestFirst: boolean
  /** Whether the statuses of each pipeline are listed together. */
  byPipeline: boolean
}

/**
 * Lists the statuses of a commit. Without a ref and a pipeline, it lists the statuses of the default branch,
 * or of every ref when the default branch has none for this commit.
 *
 * @throws DomainError not-found for an unknown commit
 */
export async function listStatuses(
  database: Database,
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
