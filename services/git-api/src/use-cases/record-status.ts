import { recordCommitStatus, type StatusWithAuthor } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { applyPost, type PostedState, validateStatusTexts } from '@switchyard/domain/commit-status'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
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
  { database, git }: Pick<Dependencies, 'database' | 'git'>,
  { project, caller }: ProjectCall<Caller>,
  command: RecordStatusCommand,
  signal?: AbortSignal,
): Promise<StatusWithAuthor> {
  validateStatusTexts(command)
  const repository = git.open(project, signal)
  const { id: sha } = await getCommit(repository, command.revision)
  const ref = command.ref ?? (await repository.findBranchContaining(sha, project.defaultBranch))
  const label = { projectId: project.id, sha, ref, name: command.name }
  const now = new Date()
  return recordCommitStatus(
    database,
    label,
    caller.user.id,
    (current) => applyPost(current, command, now),
    now,
  )
}
