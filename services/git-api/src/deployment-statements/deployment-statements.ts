import { type AuditAuthor, type Database, type DatabaseOrTransaction, inTransaction } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  noContent,
  type Route,
  route,
  rowId,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { recordProjectEvent } from '../audit/audit.js'
import { type DeploymentUser, type DeploymentView, lockDeployment } from '../deployments/store.js'
import type { ProjectCall, ProjectGuards } from '../guards.js'
import { presentUser, userShape } from '../shapes/user.js'

/** What a person says of a deployment; the user is null when the account is gone. */
export interface Statement {
  reason: string
  user: DeploymentUser | null
  createdAt: Date
}

interface StatementKey {
  projectId: number
  deploymentId: number
}

/** Something that people say of deployments with a reason, once each: a later statement replaces an earlier one, the audit log keeps both. */
export interface StatementKind {
  summaries: { say: string; takeBack: string }
  events: { said: string; takenBack: string }
  shape: ReturnType<typeof statementShape>
  refusals: number[]
  /** @throws DomainError when it cannot be said of the deployment */
  check: (transaction: DatabaseOrTransaction, deployment: DeploymentView) => Promise<void>
  save: (
    transaction: DatabaseOrTransaction,
    key: StatementKey,
    said: { reason: string; userId: number },
  ) => Promise<Statement>
  /** @returns whether there was one */
  remove: (transaction: DatabaseOrTransaction, key: StatementKey) => Promise<boolean>
}

export const statementShape = (meta: { id: string; description: string }) =>
  z.object({ reason: z.string(), user: userShape.nullable(), created_at: z.date() }).meta(meta)

export const presentStatement = (
  { reason, user, createdAt }: Statement,
  baseUrl: string,
): z.output<ReturnType<typeof statementShape>> => ({
  reason,
  user: user && presentUser(user, baseUrl),
  created_at: createdAt,
})

const deploymentId = { deployment_id: rowId() }
const reasonCharsMax = 1000

/** Routes that say something of a deployment, and take it back. */
export const statementRoutes = (
  database: Database,
  { deploy }: Pick<ProjectGuards, 'deploy'>,
  path: string,
  kind: StatementKind,
): Route[] => [
  route('POST', path, deploy, sayEndpoint(database, kind)),
  route('DELETE', path, deploy, takeBackEndpoint(database, kind)),
]

const sayEndpoint = (database: Database, kind: StatementKind) =>
  endpoint({
    summary: kind.summaries.say,
    replies: { 201: kind.shape },
    refusals: kind.refusals,
    input: z.object({ ...deploymentId, reason: filledText(reasonCharsMax) }),
    async handle({ deployment_id, reason }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const statement = await say(database, kind, access, { deploymentId: deployment_id, reason }, author)
      return created(presentStatement(statement, call.baseUrl))
    },
  })

const takeBackEndpoint = (database: Database, kind: StatementKind) =>
  endpoint({
    summary: kind.summaries.takeBack,
    replies: { 204: null },
    input: z.object(deploymentId),
    async handle({ deployment_id }, access: ProjectCall<Caller>, call) {
      await takeBack(database, kind, access, deployment_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })

/** @throws DomainError not-found, and those of `check` */
const say = (
  database: Database,
  { check, save, events }: StatementKind,
  { project, caller }: ProjectCall<Caller>,
  { deploymentId, reason }: { deploymentId: number; reason: string },
  author: AuditAuthor,
): Promise<Statement> =>
  inTransaction(database, async (transaction) => {
    await check(transaction, await lockDeployment(transaction, project.id, deploymentId))
    const key = { projectId: project.id, deploymentId }
    const statement = await save(transaction, key, { reason, userId: caller.user.id })
    const details = { deployment_id: deploymentId, reason }
    await recordProjectEvent(transaction, author, project.id, events.said, details)
    return statement
  })

/** @throws DomainError not-found */
const takeBack = (
  database: Database,
  { remove, events }: StatementKind,
  { project }: ProjectCall<Caller>,
  deploymentId: number,
  author: AuditAuthor,
): Promise<void> =>
  inTransaction(database, async (transaction) => {
    if (!(await remove(transaction, { projectId: project.id, deploymentId }))) throw notFound()
    const details = { deployment_id: deploymentId }
    await recordProjectEvent(transaction, author, project.id, events.takenBack, details)
  })
