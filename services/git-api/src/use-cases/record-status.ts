import type { StatusWithAuthor } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { applyPost, type PostedState, validateStatusTexts } from '@switchyard/domain/commit-status'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { jobHook } from '../presenters/hooks/job-hook.js'
import { pipelineHook } from '../presenters/hooks/pipeline-hook.js'
import { getCommit } from './get-commit.js'

export interface RecordStatusCommand {
  /** Hash, branch or tag. */
  revision: string
  state: PostedState
  name: string
  ref?: string | undefined
  targetUrl?: string | undefined
  description?: string | undefined
  coverage?: number | undefined
}

/**
 * Records what a build says of a commit. A post without a ref changes the active status of this commit and name,
 * whatever its ref, since a branch may have moved, merged or gone since. Only without one it makes a status of the
 * default branch when that contains the commit, else of the first branch that does, else of none.
 *
 * @throws DomainError not-found for an unknown commit; invalid, and nothing recorded, for texts that do not fit
 */
export async function recordStatus(
  { git, jobs, statuses, statusLookup }: Pick<Dependencies, 'git' | 'jobs' | 'statuses' | 'statusLookup'>,
  { project, caller }: ProjectCall<Caller>,
  command: RecordStatusCommand,
  { signal, baseUrl }: Pick<Call, 'signal' | 'baseUrl'>,
): Promise<StatusWithAuthor> {
  validateStatusTexts(command)
  const repository = git.open(project, { signal })
  const commit = await getCommit(repository, command.revision)
  const { id: sha } = commit
  const ref = command.ref ?? (await repository.findBranchContaining(sha, project.defaultBranch))
  const label = { projectId: project.id, sha, ref, name: command.name }
  const about = { project, commit, user: caller.user, baseUrl }
  const { status, changed } = await statuses
    .record({
      label,
      anyRef: command.ref === undefined,
      author: caller.user,
      apply: (current, now) => applyPost(current, command, now),
      tell: (recorded) => jobHook(recorded, about),
      tellPipeline: (pipeline) => pipelineHook(pipeline, about),
    })
    // Also after a failure: the status may be recorded although its confirmation was lost.
    .finally(() => statusLookup.hasChanged(project))
  if (changed) {
    const { id, ref: recordedRef, name } = status
    jobs.announce({
      event: 'job',
      project_id: project.id,
      id: Number(id),
      sha,
      ref: recordedRef,
      name,
      status: status.status,
    })
  }
  return status
}
