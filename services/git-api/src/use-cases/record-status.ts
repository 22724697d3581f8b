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
 * Records what a build says of a commit. Without a ref it belongs to the default branch when that
 * contains the commit, else to the first branch that does, else to none.
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
      author: caller.user,
      apply: (current, now) => applyPost(current, command, now),
      tell: (recorded) => jobHook(recorded, about),
      tellPipeline: (pipeline) => pipelineHook(pipeline, about),
    })
    // Also when it failed: it may be recorded, and only the answer was lost.
    .finally(() => statusLookup.hasChanged(project))
  const { id, name } = status
  if (changed) {
    const notice = { event: 'job', project_id: project.id, id: Number(id), sha, ref, name } as const
    jobs.announce({ ...notice, status: status.status })
  }
  return status
}
