import { type AuditAuthor, type Database, type DatabaseOrTransaction, inTransaction } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import { type DeploymentUser, type DeploymentView, lockDeployment } from '../deployments/store.js'

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

/**
 * Something that people say of deployments with a reason, once each: a later statement replaces an earlier
 * one, the audit log keeps both.
 */
interface StatementKind {
  /** In the audit log. */
  events: { added: string; removed: string }
  /** @throws DomainError when it cannot be said of the deployment */
  check: (transaction: DatabaseOrTransaction, deployment: DeploymentView) => Promise<void>
  save: (
    transaction: DatabaseOrTransaction,
    key: StatementKey,
    said: { reason: string; userId: number },
  ) => Promise<Statement>
  /** @returns whether there was one */
  remove: (transaction: DatabaseOrTransaction, key: StatementKey, author: AuditAuthor) => Promise<boolean>
}

/** Adds and removes statements of a kind. */
export const statementsOf = (kind: StatementKind) => ({
  /** @throws DomainError not-found, and those of `check` */
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
