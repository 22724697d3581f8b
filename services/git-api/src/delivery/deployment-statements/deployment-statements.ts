import { type AuditAuthor, type Database, inTransaction, type PrismaTransaction } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import { type DeploymentUser, type DeploymentView, lockDeployment } from '../deployments/store.js'

/** The statement of a person about a deployment; the user is null when the account no longer exists. */
export interface Statement {
  reason: string
  user: DeploymentUser | null
  createdAt: Date
}

interface StatementKey {
  projectId: number
  deploymentId: number
}

/**
 * A kind of statement about deployments, with a reason. A deployment has at most one of each kind: a later
 * statement replaces it, and the audit log keeps both.
 */
interface StatementKind {
  /** Names of the events in the audit log. */
  events: { added: string; removed: string }
  /** @throws DomainError when the statement is not possible for the deployment */
  check: (transaction: PrismaTransaction, deployment: DeploymentView) => Promise<void>
  save: (
    transaction: PrismaTransaction,
    key: StatementKey,
    said: { reason: string; userId: number },
  ) => Promise<Statement>
  /** @returns whether there was a statement */
  remove: (transaction: PrismaTransaction, key: StatementKey, author: AuditAuthor) => Promise<boolean>
}

/** Adds and removes statements of a kind. */
export const statementsOf = (kind: StatementKind) => ({
  /** @throws DomainError not-found, and the errors of `check` */
  add: (
    database: Database,
    { project, caller }: ProjectCall<Caller>,
    { deploymentId, reason }: { deploymentId: number; reason: string },
    author: AuditAuthor,
  ): Promise<Statement> =>
    inTransaction(database, async (transaction) => {
      await kind.check(transaction, await lockDeployment(transaction, project.id, deploymentId))
      const key = { projectId: project.id, deploymentId }
      const statement = await kind.save(transaction, key, { reason, userId: caller.user.id })
      const details = { deployment_id: deploymentId, reason }
      await recordProjectEvent(transaction, author, project.id, kind.events.added, details)
      return statement
    }),
  /** @throws DomainError not-found */
  remove: (
    database: Database,
    { project }: ProjectCall<Caller>,
    deploymentId: number,
    author: AuditAuthor,
  ): Promise<void> =>
    inTransaction(database, async (transaction) => {
      if (!(await kind.remove(transaction, { projectId: project.id, deploymentId }, author))) throw notFound()
      const details = { deployment_id: deploymentId }
      await recordProjectEvent(transaction, author, project.id, kind.events.removed, details)
    }),
})
