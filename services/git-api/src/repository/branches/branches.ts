import type { AuditAuthor, Database, ProtectedBranch } from '@switchyard/db'
import { conflict, excerpt, forbidden, invalid, notFound, requireUnmodifiedSince } from '@switchyard/domain'
import {
  accessLevels,
  type Caller,
  compileProtections,
  coveredAllowsPush,
  levelsOfBranch,
  type RefChange,
  zeroId,
} from '@switchyard/domain/access'
import {
  branchRef,
  type Commit,
  compileNameSearch,
  isNewRefName,
  isObjectId,
  isRefName,
} from '@switchyard/domain/commit'
import { findCommit } from '@switchyard/git-storage/commits'
import {
  findBranchTip,
  findMerged,
  listReferences,
  moveReference,
  type Reference,
} from '@switchyard/git-storage/references'
import type { RecordIntent, Repository } from '@switchyard/git-storage/repository'
import { type Call, takeWindow, type Window } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { matchingNames } from '../../shapes/name-regex.js'
import {
  type ForDevelopers,
  protectOneBranch,
  unprotectOneBranch,
} from '../protected-branches/protected-branches.js'
import { listProtectedBranches } from '../protected-branches/store.js'
import { beginChange, type ReferenceDependencies } from '../references/references.js'

/** A branch, its newest commit, and its protections as they affect the caller. */
export interface BranchView {
  name: string
  commit: Commit
  isDefault: boolean
  /** Whether the default branch contains the branch and has further commits. */
  isMerged: boolean
  isProtected: boolean
  developersCanPush: boolean
  developersCanMerge: boolean
  callerCanPush: boolean
}

interface BranchQuery {
  search: string
  /** Undefined: every name. */
  regex: string | undefined
  order: 'name' | 'updated'
  descending: boolean
  window: Window
}

/**
 * Returns one window of the branches that match, and the number of all of them.
 *
 * @throws DomainError invalid-parameters for a window that begins after a branch that was not found; invalid
 *   for a regular expression that is malformed or too large
 */
export async function listBranches(
  database: Database,
  access: ProjectCall,
  { search, regex, order, descending, window }: BranchQuery,
): Promise<{ branches: BranchView[]; total: number; next: string | null }> {
  const all = await listReferences(access.repository, { kind: 'branch', order, descending })
  const found = await filterByName(all, { search, regex })
  const { items, next } = takeWindow(found, window, ({ name }) => name)
  return { branches: await describeBranches(database, access, items), total: found.length, next }
}

/**
 * Returns the references that match both a search and a regular expression; a reference whose name equals the
 * search text comes first.
 */
export async function filterByName(
  references: readonly Reference[],
  { search, regex }: Pick<BranchQuery, 'search' | 'regex'>,
): Promise<Reference[]> {
  const { matches, isExact } = compileNameSearch(search)
  const searched = references.filter(({ name }) => matches(name))
  const found = regex === undefined ? searched : await matchingNames(searched, regex)
  return [...found.filter(({ name }) => isExact(name)), ...found.filter(({ name }) => !isExact(name))]
}

/** @throws DomainError invalid for a name that no branch can have; not-found */
export async function getBranch(database: Database, access: ProjectCall, name: string): Promise<BranchView> {
  if (!isRefName(name)) throw invalid('The branch refname is invalid')
  const target = await findBranchTip(access.repository, name)
  const [branch] = target === null ? [] : await describeBranches(database, access, [{ name, target }])
  if (!branch) throw notFound('Branch')
  return branch
}

async function describeBranches(
  database: Database,
  { project, repository, level }: ProjectCall,
  references: readonly Reference[],
): Promise<BranchView[]> {
  const [protections, defaultTip] = await Promise.all([
    listProtectedBranches(database, project.id),
    findBranchTip(repository, project.defaultBranch),
  ])
  const covering = compileProtections(protections)
  const merged =
    defaultTip === null ? new Set<string>() : await findMerged(repository, references, defaultTip)
  const views = await Promise.all(
    references.map(async ({ name, target }) => {
      const commit = await findCommit(repository, target)
      return commit && { name, commit, ...rightsIn(covering(name), level), ...placeOf(name, target) }
    }),
  )
  return views.filter((view) => view !== null)

  function placeOf(name: string, target: string) {
    return { isDefault: name === project.defaultBranch, isMerged: merged.has(name) && target !== defaultTip }
  }
}

const rightsIn = (covering: readonly ProtectedBranch[], level: number) => ({
  isProtected: covering.length > 0,
  developersCanPush: covering.length > 0 && coveredAllowsPush(accessLevels.developer, covering),
  developersCanMerge: covering.some((each) => levelsOfBranch(each).merge.includes(accessLevels.developer)),
  callerCanPush: coveredAllowsPush(level, covering),
})

/**
 * Creates a branch that points to a commit.
 *
 * @param start branch, tag or hash
 * @throws DomainError invalid for a name that no branch may have, a start that names no commit, a branch that
 *   exists, and a protected name that the caller may not push to
 */
export async function createBranch(
  deps: ReferenceDependencies,
  access: ProjectCall<Caller>,
  { name, start }: { name: string; start: string },
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<BranchView> {
  const { database } = deps
  const { project, repository, level, caller } = access
  if (isObjectId(name)) throw invalid('You cannot create a branch with a SHA-1 or SHA-256 branch name.')
  if (!isNewRefName(name)) throw invalid('Branch name is invalid')
  const covering = compileProtections(await listProtectedBranches(database, project.id))(name)
  if (!coveredAllowsPush(level, covering)) {
    throw invalid('You are not allowed to create protected branches on this project.')
  }
  if ((await findBranchTip(repository, name)) !== null) throw invalid('Branch already exists')
  const commit = await findCommit(repository, start)
  if (!commit)
    throw invalid(`Failed to create branch '${excerpt(name)}': invalid reference name '${excerpt(start)}'`)
  const ref = branchRef(name)
  const { recordIntent, publish } = beginChange(deps, { project, user: caller.user, baseUrl })
  if (!(await moveReference(repository, { ref, from: null, to: commit.id, recordIntent })))
    throw invalid('Branch already exists')
  const { defaultBranch } = await publish([{ ref, before: zeroId, after: commit.id }])
  return getBranch(database, { ...access, project: { ...project, defaultBranch } }, name)
}

/**
 * Protects exactly this branch, or changes its protection.
 *
 * @throws DomainError not-found; otherwise as {@link protectOneBranch}
 */
export async function protectBranch(
  database: Database,
  access: ProjectCall<Caller>,
  name: string,
  rights: ForDevelopers,
  author: AuditAuthor,
): Promise<BranchView> {
  await getBranch(database, access, name)
  await protectOneBranch(database, access, name, rights, author)
  return getBranch(database, access, name)
}

/**
 * Lifts the protection of exactly this branch, where it has one.
 *
 * @throws DomainError not-found; forbidden when only administrators may
 */
export async function unprotectBranch(
  database: Database,
  access: ProjectCall<Caller>,
  name: string,
  author: AuditAuthor,
): Promise<BranchView> {
  await getBranch(database, access, name)
  await unprotectOneBranch(database, access, name, author)
  return getBranch(database, access, name)
}

/**
 * Deletes a branch.
 *
 * @param unmodifiedSinceMs the author's date of the newest commit must not be later; NaN: no check
 * @throws DomainError invalid for the default branch and a name that no branch can have; forbidden for a
 *   protected branch; not-found; precondition-failed; conflict when the branch moves meanwhile
 */
export async function deleteBranch(
  deps: ReferenceDependencies,
  access: ProjectCall<Caller>,
  name: string,
  unmodifiedSinceMs: number,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<void> {
  const { project, repository, level, caller } = access
  const branch = await getBranch(deps.database, access, name)
  if (branch.isDefault) throw invalid('The default branch of a project cannot be deleted.')
  if (branch.isProtected && level < accessLevels.maintainer) {
    throw forbidden(
      'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
    )
  }
  requireUnmodifiedSince(new Date(branch.commit.author.seconds * 1000), unmodifiedSinceMs)
  const { recordIntent, publish } = beginChange(deps, { project, user: caller.user, baseUrl })
  const change = await removeBranch(repository, { name, target: branch.commit.id }, recordIntent)
  if (!change)
    throw conflict(`The branch ${excerpt(name)} was changed meanwhile. Please refresh and try again`)
  await publish([change])
}

/** Deletes every branch that is merged into the default branch, except protected ones. */
export async function deleteMergedBranches(
  deps: ReferenceDependencies,
  { project, repository, caller }: ProjectCall<Caller>,
  { signal, baseUrl }: Pick<Call, 'signal' | 'baseUrl'>,
): Promise<void> {
  const { database } = deps
  const defaultTip = await findBranchTip(repository, project.defaultBranch)
  if (defaultTip === null) return
  const all = await listReferences(repository, { kind: 'branch', order: 'name', descending: false })
  const merged = await findMerged(repository, all, defaultTip)
  const covering = compileProtections(await listProtectedBranches(database, project.id))
  const isDeletable = ({ name, target }: Reference) =>
    merged.has(name) && name !== project.defaultBranch && target !== defaultTip && covering(name).length === 0
  const { recordIntent, publish } = beginChange(deps, { project, user: caller.user, baseUrl })
  const changes: RefChange[] = []
  try {
    for (const branch of all.filter(isDeletable)) {
      signal.throwIfAborted()
      const change = await removeBranch(repository, branch, recordIntent)
      if (change) changes.push(change)
    }
  } finally {
    // Webhooks are notified of the deleted branches, even after a failure.
    await publish(changes)
  }
}

/** Deletes a branch. @returns null, with nothing deleted, when the branch has moved */
async function removeBranch(repository: Repository, { name, target }: Reference, recordIntent: RecordIntent) {
  const ref = branchRef(name)
  const isGone = await moveReference(repository, { ref, from: target, to: null, recordIntent })
  return isGone ? { ref, before: target, after: zeroId } : null
}
