import { type AuditAuthor, type Database, inTransaction, type Rows } from '@switchyard/db'
import { forbidden, notFound } from '@switchyard/domain'
import type { Caller, Scope } from '@switchyard/domain/access'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import * as store from './store.js'
import { createBot, type IssuedToken, issueToken, makerOf } from './tokens.js'

/** Lists the tokens of the project that are not revoked. */
export const listProjectTokens = (database: Database, { project }: ProjectCall, rows: Rows) =>
  store.listProjectTokens(database, project.id, rows)

/** @throws DomainError not-found */
export async function getProjectToken(database: Database, { project }: ProjectCall, id: number) {
  const token = await store.findProjectToken(database, project.id, id)
  if (!token) throw notFound()
  return token
}

interface NewProjectToken {
  name: string
  /** Undefined: none. */
  description: string | undefined
  scopes: readonly Scope[]
  accessLevel: number
  /**
   * The last day. Undefined: the token has none, or it gets the last day of the project token that creates
   * it.
   */
  expiresAt: Date | undefined
}

/**
 * Issues a token that works in one project only: it acts as a bot user that is a member of the project with
 * the given role. A token that a project token creates does not outlive that project token.
 *
 * @throws DomainError forbidden for a role above the caller's; invalid when its last day has passed or is too
 *   late
 */
export async function issueProjectToken(
  database: Database,
  { project, level, caller }: ProjectCall<Caller>,
  { name, description, scopes, accessLevel, expiresAt }: NewProjectToken,
  author: AuditAuthor,
): Promise<IssuedToken> {
  if (accessLevel > level) throw forbidden()
  return inTransaction(database, async (transaction) => {
    const maker = await makerOf(transaction, caller)
    const bot = await createBot(transaction, name, { projectId: project.id, accessLevel })
    const token = {
      userId: bot.id,
      name,
      description,
      scopes,
      expiresAt: expiresAt ?? maker.latestDay,
      project: { projectId: project.id, createdBy: maker.createdBy },
    }
    const issued = await issueToken(transaction, token, maker.latestDay)
    await recordProjectEvent(transaction, author, project.id, 'project_access_token_created', {
      name,
      scopes: [...scopes],
      access_level: accessLevel,
    })
    return issued
  })
}
