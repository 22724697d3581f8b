import { type AuditAuthor, type Database, inTransaction, type Rows } from '@switchyard/db'
import { conflict, excerpt, forbidden, invalid, notFound, type Precondition } from '@switchyard/domain'
import { administratorLevel, type Caller } from '@switchyard/domain/access'
import {
  countPendingApprovals,
  type EnvironmentActor,
  type EnvironmentParty,
  type EnvironmentProtection,
  environmentNameProblem,
  mayDeployTo,
  unapprovedStatuses,
} from '@switchyard/domain/deployment'
import { findMember } from '../../access/members/store.js'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import type { DeploymentView } from '../deployments/store.js'
import type { ProtectionOfEnvironment } from './store.js'
import * as store from './store.js'

const protectionsMax = 500
/** Most roles and members that may deploy, and most approval rules, of a protection. */
const partiesMax = 20

export const actorOf = ({ caller, level }: ProjectCall<Caller>): EnvironmentActor => ({
  userId: caller.user.id,
  accessLevel: caller.user.admin ? administratorLevel : level,
})

export async function listProtectedEnvironments(
  database: Database,
  { project }: ProjectCall,
  { skip, take }: Rows,
) {
  const found = await store.listProtections(database, project.id)
  return { protections: found.slice(skip, skip + take), total: found.length }
}

/** @throws DomainError not-found */
export async function getProtectedEnvironment(database: Database, { project }: ProjectCall, name: string) {
  const protection = await store.findProtection(database, project.id, name)
  if (!protection) throw notFound()
  return protection
}

/** A requested party: one with an id is changed or removed; one without is added. */
export type PartyChange<Party extends EnvironmentParty> = Omit<Party, 'id'> & {
  id: number | undefined
  takesAway: boolean
}

export interface ProtectionChanges {
  deployers: PartyChange<EnvironmentParty>[] | undefined
  requiredApprovalCount: number | undefined
  /** Without a number of approvals, an existing rule keeps its number; a new rule requires one. */
  approvalRules: (PartyChange<EnvironmentParty> & { requiredApprovals: number | undefined })[] | undefined
}

const unprotected: EnvironmentProtection = { deployers: [], requiredApprovalCount: 0, approvalRules: [] }

/**
 * Protects an environment, which need not exist yet.
 *
 * @throws DomainError invalid for a name that no environment can have, for a user who is no member, and when
 *   the project has as many protections as are allowed; conflict when the environment is protected already
 */
export async function protectEnvironment(
  database: Database,
  { project }: ProjectCall,
  { name, ...changes }: ProtectionChanges & { name: string },
  author: AuditAuthor,
) {
  const problem = environmentNameProblem(name)
  if (problem !== null) throw invalid({ name: [problem] })
  const rules = changedProtection(unprotected, changes)
  await requireMembers(database, project, changes)
  return inTransaction(database, async (transaction) => {
    if (await store.lockProtection(transaction, project.id, name)) {
      throw conflict(`Protected environment '${excerpt(name)}' already exists`)
    }
    if ((await store.countProtections(transaction, project.id)) >= protectionsMax) {
      throw invalid(`A project can have ${protectionsMax} protected environments at most`)
    }
    const created = await store.createProtection(transaction, { ...rules, projectId: project.id, name })
    await recordProjectEvent(transaction, author, project.id, 'protected_environment_created', { name })
    return created
  })
}

/** @throws DomainError not-found; precondition-failed; invalid */
export async function changeProtectedEnvironment(
  database: Database,
  { project }: ProjectCall,
  {
    name,
    precondition,
    ...changes
  }: ProtectionChanges & { name: string; precondition: Precondition | undefined },
  author: AuditAuthor,
) {
  await requireMembers(database, project, changes)
  return inTransaction(database, async (transaction) => {
    const before = await store.lockProtection(transaction, project.id, name)
    if (!before) throw notFound()
    precondition?.(before.updatedAt)
    const rules = changedProtection(before, changes)
    const changed = await store.updateProtection(transaction, project.id, before.id, rules)
    await recordProjectEvent(transaction, author, project.id, 'protected_environment_changed', { name })
    return changed
  })
}

/** @throws DomainError not-found; precondition-failed */
export const unprotectEnvironment = (
  database: Database,
  { project }: ProjectCall,
  { name, precondition }: { name: string; precondition: Precondition | undefined },
  author: AuditAuthor,
): Promise<void> =>
  inTransaction(database, async (transaction) => {
    const protection = await store.lockProtection(transaction, project.id, name)
    if (!protection) throw notFound()
    precondition?.(protection.updatedAt)
    await store.deleteProtection(transaction, project.id, protection.id)
    await recordProjectEvent(transaction, author, project.id, 'protected_environment_removed', { name })
  })

function changedProtection(before: EnvironmentProtection, changes: ProtectionChanges): EnvironmentProtection {
  const { requiredApprovalCount = before.requiredApprovalCount } = changes
  const approvalRules = changes.approvalRules?.map(({ requiredApprovals, ...rule }) => {
    const known = before.approvalRules.find(({ id }) => id === rule.id)
    return { ...rule, requiredApprovals: requiredApprovals ?? known?.requiredApprovals ?? 1 }
  })
  return {
    deployers: changedParties('deploy_access_levels', before.deployers, changes.deployers),
    requiredApprovalCount,
    approvalRules: changedParties('approval_rules', before.approvalRules, approvalRules),
  }
}

/** @throws DomainError invalid for an unknown id, and for too many parties */
function changedParties<Party extends EnvironmentParty>(
  field: string,
  before: readonly Party[],
  changes: readonly PartyChange<Party>[] = [],
): Party[] {
  let parties = [...before]
  for (const { takesAway, id, ...party } of changes) {
    if (id !== undefined && !parties.some((known) => known.id === id)) {
      throw invalid({ [field]: [`has no entry with the id ${id}`] })
    }
    const next = id ?? Math.max(0, ...parties.map((known) => known.id)) + 1
    const changed = { ...party, id: next } as unknown as Party
    if (takesAway) parties = parties.filter((known) => known.id !== id)
    else if (id === undefined) parties.push(changed)
    else parties = parties.map((known) => (known.id === id ? changed : known))
  }
  if (parties.length > partiesMax) throw invalid({ [field]: [`has more than ${partiesMax} entries`] })
  return parties
}

async function requireMembers(
  database: Database,
  { id, ownerId }: ProjectCall['project'],
  changes: ProtectionChanges,
): Promise<void> {
  const named = [...(changes.deployers ?? []), ...(changes.approvalRules ?? [])]
  for (const { userId } of named) {
    if (userId === null || userId === ownerId) continue
    if (!(await findMember(database, id, userId)))
      throw invalid(`User ${userId} is not a member of this project`)
  }
}

/**
 * Returns the approvals of a deployment, and the number that is still missing; null where its environment is
 * not protected.
 */
export async function describeApprovals(database: Database, deployment: DeploymentView) {
  const protection = await store.findProtection(database, deployment.projectId, deployment.environment.name)
  if (!protection) return null
  const approvals = await store.listApprovals(database, deployment)
  return { protection, approvals, pending: countPendingApprovals(protection, approvals) }
}

/**
 * Returns the protection of an environment; null without one.
 *
 * @param environment the name
 * @throws DomainError forbidden for a caller who may not deploy there
 */
export async function requireMayChange(
  database: Database,
  access: ProjectCall<Caller>,
  environment: string,
): Promise<ProtectionOfEnvironment | null> {
  const protection = await store.findProtection(database, access.project.id, environment)
  if (!protection || mayDeployTo(protection, actorOf(access))) return protection
  throw forbidden(`You may not deploy to the protected environment '${environment}'`)
}

interface PlannedDeployment {
  environment: string
  status: string
  /** Null: the deployment does not exist yet. */
  deployment: { projectId: number; id: number; status: string } | null
}

/**
 * Returns the protection of the environment that a deployment is for; null without one.
 *
 * @throws DomainError forbidden for a caller who may not deploy there, and for a deployment that begins
 *   before it is approved
 */
export async function requireMayDeploy(
  database: Database,
  access: ProjectCall<Caller>,
  { environment, status, deployment }: PlannedDeployment,
) {
  const protection = await requireMayChange(database, access, environment)
  if (!protection) return null
  // A deployment that began before the environment was protected, or before it required more approvals, may
  // end, because nobody can approve it any more.
  const hasBegun = deployment !== null && !unapprovedStatuses.includes(deployment.status)
  if (hasBegun || unapprovedStatuses.includes(status)) return protection
  const approvals = deployment ? await store.listApprovals(database, deployment) : []
  const pending = countPendingApprovals(protection, approvals)
  if (pending > 0) {
    const needs = `The deployment needs ${pending} more ${pending === 1 ? 'approval' : 'approvals'}`
    throw forbidden(deployment ? needs : `${needs}. Create it with the status blocked`)
  }
  return protection
}
