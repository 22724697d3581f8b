import { type AuditAuthor, type Database, type DeployToken, inTransaction, type Rows } from '@switchyard/db'
import { invalid, notFound } from '@switchyard/domain'
import { type Caller, deployCallerId, endOfDay } from '@switchyard/domain/access'
import { hashToken } from '@switchyard/service-kit/http'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import { makerOf, newSecret, type TokenDependencies } from '../tokens/tokens.js'
import * as store from './store.js'

/** @param project undefined: the deploy tokens of all projects */
export const listDeployTokens = (
  database: Database,
  project: { id: number } | undefined,
  active: boolean | undefined,
  rows: Rows,
) => store.listDeployTokens(database, { ...(project && { projectId: project.id }), active }, rows)

/** @throws DomainError not-found */
export async function getDeployToken(
  database: Database,
  { project }: ProjectCall,
  id: number,
): Promise<DeployToken> {
  const token = await store.findDeployToken(database, project.id, id)
  if (!token) throw notFound()
  return token
}

interface NewDeployTokenFields {
  name: string
  /** Undefined: the name is derived from the id. */
  username: string | undefined
  /** Undefined: the token does not expire, or it expires with the project token that creates it. */
  expiresAt: Date | undefined
}

/**
 * Issues a token that can fetch from one project. A token that a project token creates does not outlive that
 * project token.
 *
 * @returns the token with its secret, which is not stored
 * @throws DomainError invalid, by field
 */
export async function issueDeployToken(
  database: Database,
  { project, caller }: ProjectCall<Caller>,
  { name, username, expiresAt }: NewDeployTokenFields,
  author: AuditAuthor,
): Promise<{ token: DeployToken; secret: string }> {
  return inTransaction(database, async (transaction) => {
    const { createdBy, latestDay } = await makerOf(transaction, caller)
    const latest = latestDay && endOfDay(latestDay)
    const end = expiresAt ?? latest
    const problem = problemOfEnd(end, latest)
    if (problem !== null) throw invalid({ expires_at: [problem] })
    const secret = newSecret('gldt')
    const token = await store.createDeployToken(transaction, {
      projectId: project.id,
      name,
      username: username ?? null,
      expiresAt: end,
      createdBy,
      tokenHash: hashToken(secret),
    })
    await recordProjectEvent(transaction, author, project.id, 'deploy_token_created', {
      name,
      deploy_token_id: token.id,
    })
    return { token, secret }
  })
}

function problemOfEnd(end: Date | null, latest: Date | null): string | null {
  if (end !== null && end <= new Date()) return 'cannot be a date in the past'
  const isLater = latest !== null && (end === null || end > latest)
  return isLater ? `must be ${latest.toISOString()} or earlier` : null
}

/**
 * Revokes a deploy token. This process refuses it from now on, other processes within half a second.
 *
 * @throws DomainError not-found
 */
export async function revokeDeployToken(
  { database, forgetUsers }: TokenDependencies,
  { project }: ProjectCall<Caller>,
  id: number,
  author: AuditAuthor,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const token = await store.findDeployToken(transaction, project.id, id)
    if (!token || !(await store.deleteDeployToken(transaction, project.id, id))) throw notFound()
    await recordProjectEvent(transaction, author, project.id, 'deploy_token_revoked', {
      name: token.name,
      deploy_token_id: id,
    })
  })
  forgetUsers([deployCallerId(id)])
}
