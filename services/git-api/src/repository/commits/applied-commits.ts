import { invalid, notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { branchRef, type Commit, isRefName, titleOf } from '@switchyard/domain/commit'
import { pickCommit } from '@switchyard/git-storage/commits'
import { findBranchTip } from '@switchyard/git-storage/references'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { requirePush } from '../protected-branches/protected-branches.js'
import { beginChange, signatureOf } from '../references/references.js'
import { type CommitDependencies, describeCommit, getCommit } from './commits.js'

interface ApplyCommitCommand {
  /** Hash, branch or tag of the commit. */
  revision: string
  branch: string
  dryRun: boolean
}

interface CherryPickCommand extends ApplyCommitCommand {
  /** Undefined: the message of the commit, with a line that names the commit. */
  message?: string | undefined
}

/** Parts of error texts: the operation, and the reason why it would change nothing. */
const pickWords = { verb: 'cherry-picked', empty: 'the branch has its changes already' }
const revertWords = { verb: 'reverted', empty: 'the branch does not have its changes any more' }

/**
 * Applies the change of a commit to a branch. The author and the author's date stay; the committer is the
 * caller.
 *
 * @returns the new commit; after a dry run, what it would change
 * @throws DomainError forbidden for a protected branch; not-found; invalid when the change conflicts, or the
 *   branch has the change already
 */
export const cherryPick = (
  deps: CommitDependencies,
  access: ProjectCall<Caller>,
  { message, ...command }: CherryPickCommand,
  call: Pick<Call, 'baseUrl'>,
) =>
  applyCommit(deps, access, command, call, (pick) => ({
    isRevert: false,
    author: pick.author,
    message: message ?? `${pick.message.trimEnd()}\n\n(cherry picked from commit ${pick.id})`,
  }))

/**
 * Undoes the change of a commit on a branch. Author and committer are the caller.
 *
 * @returns the new commit; after a dry run, what it would change
 * @throws DomainError forbidden for a protected branch; not-found; invalid when the change conflicts, or the
 *   branch does not have the change
 */
export const revertCommit = (
  deps: CommitDependencies,
  access: ProjectCall<Caller>,
  command: ApplyCommitCommand,
  call: Pick<Call, 'baseUrl'>,
) =>
  applyCommit(deps, access, command, call, (commit) => ({
    isRevert: true,
    author: signatureOf(access.caller.user),
    message: `Revert "${titleOf(commit.message)}"\n\nThis reverts commit ${commit.id}`,
  }))

async function applyCommit(
  deps: CommitDependencies,
  access: ProjectCall<Caller>,
  { revision, branch, dryRun }: ApplyCommitCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
  describe: (commit: Commit) => { isRevert: boolean; author: Commit['author']; message: string },
) {
  const { project, repository, caller } = access
  if (!isRefName(branch)) throw invalid('The branch refname is invalid')
  await requirePush(deps.database, access, branch)
  const pick = await getCommit(repository, revision)
  const tip = await findBranchTip(repository, branch)
  if (tip === null) throw notFound('Branch')
  const committer = signatureOf(caller.user)
  const description = describe(pick)
  const change = beginChange(deps, { project, user: caller.user, baseUrl, job: caller.token.job })
  const { recordIntent } = change
  const result = await pickCommit(repository, {
    branch,
    tip,
    pick,
    committer,
    dryRun,
    ...description,
    recordIntent,
  })
  const words = description.isRevert ? revertWords : pickWords
  const failed = dryRun ? { dry_run: 'error' } : {}
  switch (result.outcome) {
    case 'conflict':
      throw invalid(`The commit cannot be ${words.verb} automatically: it conflicts with the branch`, {
        extra: { error_code: 'conflict', conflicted_paths: result.paths, ...failed },
      })
    case 'empty':
      throw invalid(`The commit cannot be ${words.verb}: ${words.empty}`, {
        extra: { error_code: 'empty', ...failed },
      })
    case 'possible':
      return { diffs: result.diffs }
    case 'picked':
      await change.publish([
        { ref: branchRef(branch), before: result.commit.parentIds[0] ?? tip, after: result.commit.id },
      ])
      return describeCommit(deps.statusLookup, access, result.commit, true)
  }
}
