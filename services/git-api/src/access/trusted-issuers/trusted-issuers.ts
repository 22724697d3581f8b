import { issuerProblem } from '@switchyard/callers'
import {
  type AuditAuthor,
  type AuditedChange,
  type Database,
  type DatabaseOrTransaction,
  inTransaction,
  type PrismaTransaction,
  type Rows,
  recordAuditEvent,
} from '@switchyard/db'
import { forbidden, invalid, notFound } from '@switchyard/domain'
import {
  type Caller,
  type ClaimPatterns,
  claimPatternsProblem,
  lastDayProblem,
  type Scope,
} from '@switchyard/domain/access'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { deleteMember } from '../members/store.js'
import { createBot, makerOf, type TokenDependencies } from '../tokens/tokens.js'
import type { TrustedIssuerWithLevel } from './store.js'
import * as store from './store.js'

export interface TrustedIssuerDependencies extends ProjectResourceDependencies {
  forgetUsers: TokenDependencies['forgetUsers']
  /** Origins of the issuers that administrators allow. */
  allowedIssuers: ReadonlySet<string>
}

/** The project in which the jobs of a rule act; null: they act outside of projects. */
type OwnProject = { id: number } | null

const rulesMax = 20

export async function listTrustedIssuers(database: Database, project: OwnProject, { skip, take }: Rows) {
  const found = await store.listTrustedIssuers(database, { projectId: project?.id ?? null })
  return { rules: found.slice(skip, skip + take), total: found.length }
}

/** @throws DomainError not-found */
export async function getTrustedIssuer(
  database: DatabaseOrTransaction,
  project: OwnProject,
  id: number,
): Promise<TrustedIssuerWithLevel> {
  const rule = await store.findTrustedIssuer(database, { projectId: project?.id ?? null }, id)
  if (!rule) throw notFound()
  return rule
}

interface NewRule {
  name: string
  issuer: string
  audience: string
  claims: ClaimPatterns
  scopes: readonly Scope[]
  /**
   * The last day. Undefined: the rule has none, or it gets the last day of the project token that creates it.
   */
  expiresAt: Date | undefined
}

/**
 * Lets the CI jobs of an issuer act in a project, as a bot that is a member with the given role.
 *
 * @throws DomainError forbidden for a role above the caller's; invalid, by field, and when there are as many
 *   rules as are allowed
 */
export async function trustIssuer(
  { database, allowedIssuers }: TrustedIssuerDependencies,
  { project, level, caller }: ProjectCall<Caller>,
  given: NewRule & { accessLevel: number },
  author: AuditAuthor,
): Promise<TrustedIssuerWithLevel> {
  const { accessLevel } = given
  if (accessLevel > level) throw forbidden()
  return inTransaction(database, async (transaction) => {
    const { createdBy, latestDay } = await makerOf(transaction, caller)
    const rule = { ...given, expiresAt: given.expiresAt ?? latestDay, tenants: [] }
    checkRule(rule, latestDay, allowedIssuers)
    return addRule(transaction, rule, { id: project.id, accessLevel }, { ...author, createdBy })
  })
}

/**
 * Lets the CI jobs of an issuer act outside of projects, within the operations that their scopes allow.
 *
 * @param given.tenants the only tenants of sagas that the jobs may name; empty: every tenant
 * @throws DomainError as {@link trustIssuer}
 */
export async function trustIssuerOutsideProjects(
  { database, allowedIssuers }: TrustedIssuerDependencies,
  caller: Caller,
  given: NewRule & { tenants: readonly string[] },
  author: AuditAuthor,
): Promise<TrustedIssuerWithLevel> {
  const rule = { ...given, expiresAt: given.expiresAt ?? null }
  checkRule(rule, null, allowedIssuers)
  return inTransaction(database, (transaction) =>
    addRule(transaction, rule, null, { ...author, createdBy: caller.user.id }),
  )
}

type CheckedRule = Omit<NewRule, 'expiresAt'> & { expiresAt: Date | null; tenants: readonly string[] }

function checkRule(rule: CheckedRule, latestDay: Date | null, allowed: ReadonlySet<string>): void {
  const problems = {
    issuer: issuerProblem(rule.issuer, allowed),
    claims: claimPatternsProblem(rule.claims),
    expires_at: lastDayProblem(rule.expiresAt, latestDay, new Date()),
  }
  const found = Object.entries(problems).flatMap(([field, problem]) => (problem ? [[field, [problem]]] : []))
  if (found.length > 0) throw invalid(Object.fromEntries(found))
}

async function addRule(
  transaction: PrismaTransaction,
  { name, issuer, audience, claims, scopes, tenants, expiresAt }: CheckedRule,
  project: { id: number; accessLevel: number } | null,
  { createdBy, ...author }: AuditAuthor & { createdBy: number | null },
): Promise<TrustedIssuerWithLevel> {
  const projectId = project?.id ?? null
  if ((await store.lockAndCountTrustedIssuers(transaction, { projectId })) >= rulesMax)
    throw invalid(`There can be ${rulesMax} trusted issuers at most`)
  const membership = project && { projectId: project.id, accessLevel: project.accessLevel }
  const bot = await createBot(transaction, name, membership)
  const fields = { name, issuer, audience, claims, scopes, tenants, expiresAt }
  const rule = await store.createTrustedIssuer(transaction, {
    ...fields,
    projectId,
    userId: bot.id,
    createdBy,
  })
  await recordAuditEvent(transaction, author, {
    ...auditedEntity(rule),
    eventName: 'trusted_issuer_added',
    details: {
      ...auditedRule(rule),
      audience,
      claims: Object.entries(claims).map(([claim, pattern]) => `${claim}=${pattern}`),
      scopes: [...scopes],
      access_level: project?.accessLevel ?? null,
    },
  })
  return { ...rule, accessLevel: project?.accessLevel ?? null }
}

/**
 * Removes a rule. This process refuses its jobs from now on, other processes within half a second.
 *
 * @throws DomainError not-found
 */
export async function distrustIssuer(
  { database, forgetUsers }: TrustedIssuerDependencies,
  project: OwnProject,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  const bot = await inTransaction(database, async (transaction) => {
    const rule = await getTrustedIssuer(transaction, project, id)
    if (!(await store.deleteTrustedIssuer(transaction, id))) throw notFound()
    const { projectId, userId } = rule
    if (projectId !== null) await deleteMember(transaction, { projectId, userId })
    await store.revokeTokensOfBot(transaction, userId)
    await recordAuditEvent(transaction, author, {
      ...auditedEntity(rule),
      eventName: 'trusted_issuer_removed',
      details: auditedRule(rule),
    })
    return userId
  })
  forgetUsers([bot])
}

const auditedEntity = ({
  projectId,
  userId,
}: Pick<TrustedIssuerWithLevel, 'projectId' | 'userId'>): Pick<AuditedChange, 'entityType' | 'entityId'> =>
  projectId === null
    ? { entityType: 'User', entityId: userId }
    : { entityType: 'Project', entityId: projectId }

const auditedRule = ({ id, name, issuer }: Pick<TrustedIssuerWithLevel, 'id' | 'name' | 'issuer'>) => ({
  trusted_issuer_id: id,
  name,
  issuer,
})
