import {
  type AuditAuthor,
  type Database,
  inTransaction,
  onTaken,
  type PrismaTransaction,
  type Project,
  type ProtectedBranch,
  type Rows,
} from '@switchyard/db'
import {
  conflict,
  excerpt,
  forbidden,
  invalid,
  notFound,
  type Precondition,
  tooLongText,
} from '@switchyard/domain'
import {
  accessLevels,
  administratorLevel,
  type Caller,
  canPush,
  levelsOfBranch,
  lowestLevel,
  protectionNameLengthMax,
  protectionsPerProjectMax,
} from '@switchyard/domain/access'
import { isRefName } from '@switchyard/domain/commit'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import type { BranchRules, NewProtectedBranch } from './store.js'
import * as store from './store.js'

/** @param search part of the name or pattern; empty: all */
export async function listProtectedBranches(
  database: Database,
  { project }: ProjectCall,
  search: string,
  { skip, take }: Rows,
): Promise<{ branches: ProtectedBranch[]; total: number }> {
  const found = (await store.listProtectedBranches(database, project.id)).filter(({ name }) =>
    name.includes(search),
  )
  return { branches: found.slice(skip, skip + take), total: found.length }
}

/**
 * Returns the protections of the branches of a project when the caller may push to the branch.
 *
 * @throws DomainError forbidden
 */
export async function requirePush(
  database: Database,
  { project, level }: ProjectCall,
  branch: string,
): Promise<ProtectedBranch[]> {
  const protections = await store.listProtectedBranches(database, project.id)
  if (!canPush(branch, level, protections)) throw forbidden('You are not allowed to push into this branch')
  return protections
}

/** @throws DomainError not-found */
export async function getProtectedBranch(database: Database, { project }: ProjectCall, name: string) {
  const branch = await store.findProtectedBranch(database, project.id, name)
  if (!branch) throw notFound()
  return branch
}

/**
 * Protects a branch, or every branch that a pattern matches.
 *
 * @throws DomainError invalid for a name that no branch can have or that is too long, and when the project
 *   has too many protections; conflict when the name is protected already
 */
export async function protectBranch(
  database: Database,
  { project }: ProjectCall,
  given: Omit<NewProtectedBranch, 'projectId'>,
  author: AuditAuthor,
): Promise<ProtectedBranch> {
  requireName(given.name)
  return inTransaction(database, (transaction) => addTo(transaction, project, given, author)).catch(
    onTaken((cause) => conflict(`Protected branch '${excerpt(given.name)}' already exists`, { cause })),
  )
}

/** @throws DomainError invalid */
function requireName(name: string): void {
  if (name.length > protectionNameLengthMax) {
    throw invalid({ name: [tooLongText(protectionNameLengthMax)] })
  }
  if (!isRefName(name.replaceAll('*', 'x'))) throw invalid({ name: ['is not a valid branch name'] })
}

async function addTo(
  transaction: PrismaTransaction,
  { id: projectId }: Project,
  given: Omit<NewProtectedBranch, 'projectId'>,
  author: AuditAuthor,
): Promise<ProtectedBranch> {
  if ((await store.lockAndCountProtectedBranches(transaction, projectId)) >= protectionsPerProjectMax) {
    throw invalid(`A project can have ${protectionsPerProjectMax} protected branches at most`)
  }
  const added = await store.createProtectedBranch(transaction, { ...given, projectId })
  const details = { name: given.name, ...auditedRules(given) }
  await recordProjectEvent(transaction, author, projectId, 'protected_branch_created', details)
  return added
}

const auditedRules = ({ levels, allowForcePush }: BranchRules) => ({
  push_access_level: lowestLevel(levels.push),
  allow_force_push: allowForcePush,
})

interface BranchChange {
  name: string
  /** Returns the new rules for the current protection. */
  change: (branch: ProtectedBranch) => BranchRules
  precondition: Precondition | undefined
}

/**
 * Changes a protection.
 *
 * @throws DomainError not-found; forbidden when only administrators may; precondition-failed; the errors of
 *   `change`
 */
export const changeProtectedBranch = (
  database: Database,
  access: ProjectCall<Caller>,
  change: BranchChange,
  author: AuditAuthor,
): Promise<ProtectedBranch> =>
  inTransaction(database, (transaction) => changeIn(transaction, access, change, author))

async function changeIn(
  transaction: PrismaTransaction,
  { project, caller }: Pick<ProjectCall<Caller>, 'project' | 'caller'>,
  { name, change, precondition }: BranchChange,
  author: AuditAuthor,
): Promise<ProtectedBranch> {
  const before = await getForChange(transaction, project, name, caller)
  precondition?.(before.updatedAt)
  const rules = change(before)
  const changed = await store.updateProtectedBranch(transaction, before, rules)
  const details = { name, ...auditedRules(rules) }
  await recordProjectEvent(transaction, author, project.id, 'protected_branch_changed', details)
  return changed
}

/** What a protection lets developers do. */
export interface ForDevelopers {
  /** Undefined: unchanged; for a branch that is not protected yet: maintainers only. */
  push: boolean | undefined
  merge: boolean | undefined
}

const levelFor = (developers: boolean) => [developers ? accessLevels.developer : accessLevels.maintainer]

/**
 * Protects exactly the branch of this name, or changes its protection.
 *
 * @throws DomainError invalid as {@link protectBranch}; forbidden when only administrators may
 */
export async function protectOneBranch(
  database: Database,
  access: ProjectCall<Caller>,
  name: string,
  { push, merge }: ForDevelopers,
  author: AuditAuthor,
): Promise<void> {
  requireName(name)
  const change = (branch: ProtectedBranch): BranchRules => {
    const { allowForcePush, codeOwnerApprovalRequired } = branch
    const levels = levelsOfBranch(branch)
    return {
      allowForcePush,
      codeOwnerApprovalRequired,
      levels: {
        ...levels,
        ...(push !== undefined && { push: levelFor(push) }),
        ...(merge !== undefined && { merge: levelFor(merge) }),
      },
    }
  }
  const levels = { push: levelFor(push === true), merge: levelFor(merge === true), unprotect: [] }
  const rules = { name, levels, allowForcePush: false, codeOwnerApprovalRequired: false }
  await inTransaction(database, async (transaction) => {
    const isProtected = (await store.lockProtectedBranch(transaction, access.project.id, name)) !== null
    if (isProtected) await changeIn(transaction, access, { name, change, precondition: undefined }, author)
    else await addTo(transaction, access.project, rules, author)
  })
}

/**
 * Removes the protection with exactly this name, if there is one.
 *
 * @throws DomainError forbidden when only administrators may
 */
export const unprotectOneBranch = (
  database: Database,
  access: ProjectCall<Caller>,
  name: string,
  author: AuditAuthor,
): Promise<void> =>
  inTransaction(database, async (transaction) => {
    const isProtected = (await store.lockProtectedBranch(transaction, access.project.id, name)) !== null
    if (isProtected) await liftIn(transaction, access, { name }, author)
  })

/** Finds a protection that the caller may change and remove, and locks the protections of the project. */
async function getForChange(
  transaction: PrismaTransaction,
  { id }: Project,
  name: string,
  { user }: Caller,
): Promise<ProtectedBranch> {
  const branch = await store.lockProtectedBranch(transaction, id, name)
  if (!branch) throw notFound()
  if (lowestLevel(levelsOfBranch(branch).unprotect) >= administratorLevel && !user.admin) {
    throw forbidden('Only administrators may change or lift this protection')
  }
  return branch
}

/**
 * Removes the protection; the branch itself stays.
 *
 * @throws DomainError not-found; precondition-failed; forbidden when only administrators may
 */
export const unprotectBranch = (
  database: Database,
  access: ProjectCall<Caller>,
  { name, precondition }: { name: string; precondition: Precondition | undefined },
  author: AuditAuthor,
): Promise<void> =>
  inTransaction(database, (transaction) => liftIn(transaction, access, { name, precondition }, author))

async function liftIn(
  transaction: PrismaTransaction,
  { project, caller }: Pick<ProjectCall<Caller>, 'project' | 'caller'>,
  { name, precondition }: { name: string; precondition?: Precondition | undefined },
  author: AuditAuthor,
): Promise<void> {
  const { updatedAt } = await getForChange(transaction, project, name, caller)
  precondition?.(updatedAt)
  await store.deleteProtectedBranch(transaction, project.id, name)
  await recordProjectEvent(transaction, author, project.id, 'protected_branch_removed', { name })
}
