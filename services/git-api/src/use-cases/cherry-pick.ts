import { listProtectedBranches } from '@switchyard/db'
import { forbidden, invalid, notFound } from '@switchyard/domain'
import { type Caller, canPush } from '@switchyard/domain/access'
import { isRefName } from '@switchyard/domain/commit'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { describeCommit, getCommit } from './read-commits.js'
import { referencesChanged } from './references-changed.js'
import { signatureOf } from './signature.js'

export interface CherryPickCommand {
  /** Hash, branch or tag of the commit to repeat. */
  revision: string
  branch: string
  /** Undefined: the message of the commit, with a line that names the commit. */
  message?: string | undefined
  dryRun: boolean
}

/**
 * Repeats the change of a commit on a branch. Author and author's date stay; the committer is the caller.
 *
 * @returns the new commit; null after a dry run
 * @throws DomainError forbidden for a protected branch; not-found; invalid when the change conflicts, or the branch has
 *   the change already
 */
export async function cherryPick(
  deps: Dependencies,
  access: ProjectCall<Caller>,
  { revision, branch, message, dryRun }: CherryPickCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
) {
  const { project, repository, level, caller } = access
  if (!isRefName(branch)) throw invalid('The branch refname is invalid')
  if (!canPush(branch, level, await listProtectedBranches(deps.database, project.id))) {
    throw forbidden('You are not allowed to push into this branch')
  }
  const pick = await getCommit(repository, revision)
  const tip = await repository.findBranchTip(branch)
  if (tip === null) throw notFound('Branch')
  const result = await repository.pickCommit({
    branch,
    tip,
    pick,
    committer: signatureOf(caller.user),
    message: message ?? `${pick.message.trimEnd()}\n\n(cherry picked from commit ${pick.id})`,
    dryRun,
  })
  const failed = dryRun ? { dry_run: 'error' } : {}
  switch (result.outcome) {
    case 'conflict':
      throw invalid('The commit cannot be cherry-picked automatically: it conflicts with the branch', {
        extra: { error_code: 'conflict', conflicted_paths: result.paths, ...failed },
      })
    case 'empty':
      throw invalid('The commit cannot be cherry-picked: the branch has its changes already', {
        extra: { error_code: 'empty', ...failed },
      })
    case 'possible':
      return null
    case 'picked':
      await referencesChanged(deps, { project, user: caller.user, baseUrl }, [
        { ref: `refs/heads/${branch}`, before: result.commit.parentIds[0] ?? tip, after: result.commit.id },
      ])
      return describeCommit(deps, access, result.commit, true)
  }
}
