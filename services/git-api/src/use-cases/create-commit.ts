import { listProtectedBranches } from '@switchyard/db'
import { excerpt, forbidden, invalid } from '@switchyard/domain'
import { type Caller, canForcePush, canPush, zeroId } from '@switchyard/domain/access'
import {
  branchStart,
  type CommitAction,
  isNewBranchName,
  parseRevision,
  readActions,
  refNameLengthMax,
  signatureText,
} from '@switchyard/domain/commit'
import type { DiffEntry, Repository } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { beginChange } from './change-references.js'
import { type CommitDescription, describeCommit } from './read-commits.js'
import { signatureOf } from './signature.js'

export interface CreateCommitCommand {
  branch: string
  message: string
  actions: CommitAction[]
  authorName?: string | undefined
  authorEmail?: string | undefined
  startBranch?: string | undefined
  startSha?: string | undefined
  force: boolean
  allowEmpty: boolean
  /** Whether the answer counts the changed lines. */
  withStats: boolean
}

/**
 * Commits the actions to a branch, all of them or none.
 *
 * @throws DomainError forbidden for a protected branch; invalid for an action that does not fit the repository;
 *   conflict when another request changed the same files meanwhile
 */
export async function createCommit(
  deps: Dependencies,
  access: ProjectCall<Caller>,
  command: CreateCommitCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<CommitDescription> {
  const { project, repository, caller } = access
  const { branch, message } = command
  const { edits, tip, parent, forced } = await planCommit(deps, access, command)
  const signatures = signaturesOf(caller, command)
  const change = beginChange(deps, { project, user: caller.user, baseUrl })
  const { foresee } = change
  const commit = await repository.writeCommit({ branch, tip, parent, edits, message, ...signatures, foresee })
  // When another commit was created meanwhile, the parent of this commit is a newer tip than the one that was found.
  const before = tip === null ? zeroId : forced ? tip : (commit.parentIds[0] ?? zeroId)
  await change.happened([{ ref: `refs/heads/${branch}`, before, after: commit.id }])
  return describeCommit(deps, access, commit, command.withStats)
}

/**
 * What the actions would change on a branch. Nothing is stored.
 *
 * @throws DomainError as {@link createCommit}, and too-large when git cannot compare the trees
 */
export async function previewCommit(
  deps: Dependencies,
  access: ProjectCall<Caller>,
  command: CreateCommitCommand,
): Promise<DiffEntry[]> {
  return access.repository.previewCommit(await planCommit(deps, access, command))
}

/** Checks that the caller may push to the branch, and that the branch can begin at the requested start. */
async function planCommit(
  { database }: Dependencies,
  { project, repository, level }: ProjectCall<Caller>,
  command: CreateCommitCommand,
) {
  const { branch, force } = command
  if (branch.length > refNameLengthMax) throw invalid('Branch name is invalid')
  const protections = await listProtectedBranches(database, project.id)
  if (!canPush(branch, level, protections)) throw forbidden('You are not allowed to push into this branch')
  if (command.actions.length === 0 && !command.allowEmpty) {
    throw invalid('400 Bad request - Provide at least one action, or set allow_empty to true')
  }
  const edits = readActions(command.actions)
  const tip = await repository.findBranchTip(branch)
  const start = await findStart(repository, command)
  const empty = tip === null && start === undefined && (await repository.hasNoBranch())
  const { parent, forced } = branchStart({ branch, tip, start, empty, force })
  if (tip === null && !isNewBranchName(branch)) throw invalid('Branch name is invalid')
  if (forced && !canForcePush(branch, protections)) {
    throw forbidden('You are not allowed to force push into this branch')
  }
  return { edits, tip, parent, forced }
}

/** The explicit author fields; each defaults to the caller. The committer is the caller. */
function signaturesOf({ user }: Caller, { authorName = '', authorEmail = '' }: CreateCommitCommand) {
  const committer = signatureOf(user)
  const name = signatureText(authorName) || committer.name
  const email = signatureText(authorEmail) || committer.email
  return { author: { ...committer, name, email }, committer }
}

/** The commit to start from; undefined when the caller named none. */
async function findStart(repository: Repository, { startBranch, startSha }: CreateCommitCommand) {
  if (startBranch) {
    const tip = await repository.findBranchTip(startBranch)
    if (tip === null) throw invalid('You can only create or edit files when you are on a branch')
    return tip
  }
  if (!startSha) return undefined
  if (!parseRevision(startSha)) throw invalid(`Invalid start_sha '${excerpt(startSha)}'`)
  const commit = await repository.findCommit(startSha)
  if (!commit) throw invalid(`Cannot find start_sha '${excerpt(startSha)}'`)
  return commit.id
}
