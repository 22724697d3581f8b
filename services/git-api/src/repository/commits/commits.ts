import type { Database, Project } from '@switchyard/db'
import { excerpt, forbidden, invalid, notFound } from '@switchyard/domain'
import { type Caller, canForcePush, type JobIdentity, zeroId } from '@switchyard/domain/access'
import {
  branchRef,
  branchStart,
  type Commit,
  type CommitAction,
  type CommitStats,
  isNewRefName,
  parseRevision,
  readActions,
  refNameLengthMax,
  signatureText,
} from '@switchyard/domain/commit'
import {
  findCommit,
  findCommitId,
  previewCommit,
  readSignatureText,
  writeCommit,
} from '@switchyard/git-storage/commits'
import { type DiffEntry, readStats } from '@switchyard/git-storage/diffs'
import { findBranchTip, hasNoBranch } from '@switchyard/git-storage/references'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import type { PipelineWithAuthor } from '../../ci/pipelines/store.js'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import type { SignatureKind } from '../../shapes/commit.js'
import { requirePush } from '../protected-branches/protected-branches.js'
import { beginChange, type ReferenceDependencies, signatureOf } from '../references/references.js'
import type { CommitBodies } from './commit-bodies.js'

/** The state and the newest pipeline of a commit, from its statuses, and the CI job that pushed it. */
export interface CommitState {
  /** The state derived from all statuses; null without any status. */
  status: string | null
  /** The newest pipeline of any ref; null without a status. */
  lastPipeline: PipelineWithAuthor | null
  /** The CI job that added the commit; null: no job added it with its identity token. */
  job: JobIdentity | null
}

/** A lookup of the state and the newest pipeline of a commit. */
export interface CommitStateLookup {
  find(project: Project, sha: string): Promise<CommitState>
}

export interface CommitDependencies extends ProjectResourceDependencies, ReferenceDependencies {
  commitBodies: CommitBodies
  statusLookup: CommitStateLookup
}

/** @throws DomainError not-found when the revision names no commit, or cannot be one */
export async function getCommit(repository: Repository, revision: string): Promise<Commit> {
  const commit = await findCommit(repository, revision)
  if (!commit) throw notFound('Commit')
  return commit
}

/** Returns the id of the commit that a revision names. @throws DomainError not-found like getCommit */
export async function getCommitId(repository: Repository, revision: string): Promise<string> {
  const id = await findCommitId(repository, revision)
  if (id === null) throw notFound('Commit')
  return id
}

/** The beginning of each kind of signature. */
const signatureStarts: Record<SignatureKind, string> = {
  PGP: '-----BEGIN PGP ',
  SSH: '-----BEGIN SSH SIGNATURE-----',
  X509: '-----BEGIN SIGNED MESSAGE-----',
}

/**
 * @param id the id of a commit or a tag
 *
 * @throws DomainError not-found without a signature, and for a signature of an unknown kind
 */
export async function readSignature(repository: Repository, id: string): Promise<SignatureKind> {
  const signature = await readSignatureText(repository, id)
  const kinds = Object.keys(signatureStarts) as SignatureKind[]
  const kind = kinds.find((candidate) => signature?.startsWith(signatureStarts[candidate]))
  if (!kind) throw notFound('Signature')
  return kind
}

export interface CommitDescription extends CommitState {
  commit: Commit
  /** Undefined: not requested. Null: the commit could not be compared with its parent. */
  stats: CommitStats | null | undefined
}

/** Adds the numbers of changed lines, if requested, and the state derived from the statuses. */
export async function describeCommit(
  statusLookup: CommitStateLookup,
  { project, repository }: ProjectCall,
  commit: Commit,
  withStats: boolean,
): Promise<CommitDescription> {
  const [stats, state] = await Promise.all([
    withStats ? readStats(repository, [commit.id]) : null,
    statusLookup.find(project, commit.id),
  ])
  const counted = stats ? (stats.get(commit.id) ?? null) : undefined
  return { commit, stats: counted, ...state }
}

export interface DiffQuery {
  /** Old or new path of the only file in the diff; undefined: every file. */
  path: string | undefined
  /** Whether to count the changed lines instead of returning texts. */
  withCounts: boolean
}

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
 * Commits the actions to a branch atomically.
 *
 * @throws DomainError forbidden for a protected branch; invalid for an action that does not fit the
 *   repository; conflict when another request changed the same files meanwhile
 */
export async function createCommit(
  deps: CommitDependencies,
  access: ProjectCall<Caller>,
  command: CreateCommitCommand,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<CommitDescription> {
  const { project, repository, caller } = access
  const { branch, message } = command
  const { edits, tip, parent, forced } = await planCommit(deps.database, access, command)
  const signatures = signaturesOf(caller, command)
  const change = beginChange(deps, { project, user: caller.user, baseUrl, job: caller.token.job })
  const { recordIntent } = change
  const commit = await writeCommit(repository, {
    branch,
    tip,
    parent,
    edits,
    message,
    ...signatures,
    recordIntent,
  })
  // When another commit was created meanwhile, the parent of this commit is newer than the tip that was
  // found.
  const before = tip === null ? zeroId : forced ? tip : (commit.parentIds[0] ?? zeroId)
  await change.publish([{ ref: branchRef(branch), before, after: commit.id }])
  return describeCommit(deps.statusLookup, access, commit, command.withStats)
}

/**
 * Returns the changes that the actions would make on a branch, and stores nothing.
 *
 * @throws DomainError as {@link createCommit}, and too-large when git cannot compare the trees
 */
export async function previewActions(
  database: Database,
  access: ProjectCall<Caller>,
  command: CreateCommitCommand,
): Promise<DiffEntry[]> {
  return previewCommit(access.repository, await planCommit(database, access, command))
}

/** Checks that the caller may push to the branch, and that the branch can start at the requested commit. */
async function planCommit(database: Database, access: ProjectCall<Caller>, command: CreateCommitCommand) {
  const { repository } = access
  const { branch, force } = command
  if (branch.length > refNameLengthMax) throw invalid('Branch name is invalid')
  const protections = await requirePush(database, access, branch)
  if (command.actions.length === 0 && !command.allowEmpty) {
    throw invalid('400 Bad request - Provide at least one action, or set allow_empty to true')
  }
  const edits = readActions(command.actions)
  const tip = await findBranchTip(repository, branch)
  const start = await findStart(repository, command)
  const empty = tip === null && start === undefined && (await hasNoBranch(repository))
  const { parent, forced } = branchStart({ branch, tip, start, empty, force })
  if (tip === null && !isNewRefName(branch)) throw invalid('Branch name is invalid')
  if (forced && !canForcePush(branch, protections)) {
    throw forbidden('You are not allowed to force push into this branch')
  }
  return { edits, tip, parent, forced }
}

/** Returns author and committer. A given author field overrides the caller's; the committer is the caller. */
function signaturesOf({ user }: Caller, { authorName = '', authorEmail = '' }: CreateCommitCommand) {
  const committer = signatureOf(user)
  const name = signatureText(authorName) || committer.name
  const email = signatureText(authorEmail) || committer.email
  return { author: { ...committer, name, email }, committer }
}

/** Returns the commit to start from; undefined when the caller gave none. */
async function findStart(repository: Repository, { startBranch, startSha }: CreateCommitCommand) {
  if (startBranch) {
    const tip = await findBranchTip(repository, startBranch)
    if (tip === null) throw invalid('You can only create or edit files when you are on a branch')
    return tip
  }
  if (!startSha) return undefined
  if (!parseRevision(startSha)) throw invalid(`Invalid start_sha '${excerpt(startSha)}'`)
  const commit = await findCommit(repository, startSha)
  if (!commit) throw invalid(`Cannot find start_sha '${excerpt(startSha)}'`)
  return commit.id
}
