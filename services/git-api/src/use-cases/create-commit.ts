import { listProtectedBranches } from '@switchyard/db'
import { forbidden, invalid } from '@switchyard/domain'
import { type Caller, canForcePush, canPush } from '@switchyard/domain/access'
import {
  branchStart,
  type Commit,
  type CommitAction,
  isNewBranchName,
  parseRevision,
  readActions,
  refNameLengthMax,
  signatureText,
} from '@switchyard/domain/commit'
import type { Repository } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { adoptDefaultBranch } from './adopt-default-branch.js'
import { referencesChanged } from './references-changed.js'

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
}

/**
 * Commits the actions to a branch, all of them or none.
 *
 * @throws DomainError forbidden for a protected branch; invalid for what does not fit the repository;
 *   conflict when somebody else changed the same files meanwhile
 */
export async function createCommit(
  dependencies: Pick<Dependencies, 'database' | 'git' | 'jobs' | 'logger'>,
  { project, level, caller }: ProjectCall<Caller>,
  command: CreateCommitCommand,
  { signal, baseUrl }: Pick<Call, 'signal' | 'baseUrl'>,
): Promise<Commit> {
  const { database, git } = dependencies
  if (command.branch.length > refNameLengthMax) throw invalid('Branch name is invalid')
  const protections = await listProtectedBranches(database, project.id)
  if (!canPush(command.branch, level, protections)) {
    throw forbidden('You are not allowed to push into this branch')
  }
  if (command.actions.length === 0 && !command.allowEmpty) {
    throw invalid('400 Bad request - Provide at least one action, or set allow_empty to true')
  }
  const edits = readActions(command.actions)
  const repository = git.open(project, { signal })
  const tip = await repository.findBranchTip(command.branch)
  const start = await findStart(repository, command)
  const empty = tip === null && start === undefined && (await repository.hasNoBranch())
  const { parent, forced } = branchStart({ branch: command.branch, tip, start, empty, force: command.force })
  if (tip === null && !isNewBranchName(command.branch)) throw invalid('Branch name is invalid')
  if (forced && !canForcePush(command.branch, protections)) {
    throw forbidden('You are not allowed to force push into this branch')
  }
  const { author, committer } = signaturesOf(caller, command)
  const { branch, message } = command
  const commit = await repository.writeCommit({ branch, tip, parent, edits, author, committer, message })
  if (empty) await adoptDefaultBranch({ database, git }, project)
  // A lost race may have put the commit on a newer tip than the one that was found.
  const before = tip === null ? zeroId : forced ? tip : (commit.parentIds[0] ?? zeroId)
  await referencesChanged(dependencies, { project, user: caller.user, baseUrl }, [
    { ref: `refs/heads/${branch}`, before, after: commit.id },
  ])
  return commit
}

const zeroId = '0'.repeat(40)

/** The explicit author fields; each defaults to the caller. The committer is the caller. */
function signaturesOf({ user }: Caller, { authorName = '', authorEmail = '' }: CreateCommitCommand) {
  const committer = { name: user.name, email: user.email, ...now() }
  const name = signatureText(authorName) || committer.name
  const email = signatureText(authorEmail) || committer.email
  return { author: { ...committer, name, email }, committer }
}

const now = () => ({ seconds: Math.floor(Date.now() / 1000), offsetMinutes: 0 })

type Start = Pick<CreateCommitCommand, 'startBranch' | 'startSha'>

/** The commit to start from; undefined when the caller named none. */
async function findStart(
  repository: Repository,
  { startBranch, startSha }: Start,
): Promise<string | undefined> {
  if (startBranch) {
    const tip = await repository.findBranchTip(startBranch)
    if (tip === null) throw invalid('You can only create or edit files when you are on a branch')
    return tip
  }
  if (!startSha) return undefined
  if (!parseRevision(startSha)) throw invalid(`Invalid start_sha '${startSha}'`)
  const commit = await repository.findCommit(startSha)
  if (!commit) throw invalid(`Cannot find start_sha '${startSha}'`)
  return commit.id
}
