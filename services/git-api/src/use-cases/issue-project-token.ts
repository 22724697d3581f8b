import { randomBytes } from 'node:crypto'
import {
  type AuditAuthor,
  createMember,
  createUser,
  type DatabaseOrTransaction,
  findToken,
  inTransaction,
  type Project,
  recordAuditEvent,
} from '@switchyard/db'
import { forbidden, unauthenticated } from '@switchyard/domain'
import type { Caller, Scope } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { type IssuedToken, issueToken } from './issue-token.js'

export interface NewProjectToken {
  name: string
  scopes: readonly Scope[]
  accessLevel: number
  /** Undefined: no end, or the end of the project token that makes it. */
  expiresAt: Date | undefined
}

/**
 * Issues a token that works in one project only, with a role of its own: it acts as a bot that is a member of the
 * project. One that a project token makes does not outlive that token.
 *
 * @throws DomainError forbidden for a role above the caller's; invalid when its last day has passed or is too late
 */
export async function issueProjectToken(
  { database }: Pick<Dependencies, 'database'>,
  { project, level, caller }: ProjectCall<Caller>,
  { name, scopes, accessLevel, expiresAt }: NewProjectToken,
  author: AuditAuthor,
): Promise<IssuedToken> {
  if (accessLevel > level) throw forbidden()
  return inTransaction(database, async (transaction) => {
    const maker = await makerOf(transaction, caller)
    const bot = await createUser(transaction, { ...botNames(project), name, admin: false, bot: true })
    await createMember(transaction, { projectId: project.id, userId: bot.id, accessLevel })
    const token = {
      userId: bot.id,
      name,
      scopes,
      expiresAt: expiresAt ?? maker.latestDay,
      project: { projectId: project.id, createdBy: maker.createdBy },
    }
    const issued = await issueToken(transaction, token, maker.latestDay)
    await recordAuditEvent(transaction, author, {
      eventName: 'project_access_token_created',
      entityType: 'Project',
      entityId: project.id,
      details: { name, scopes: [...scopes], access_level: accessLevel },
    })
    return issued
  })
}

/** The user behind a new project token, and the last day that the token may have. */
export async function makerOf(transaction: DatabaseOrTransaction, { user, token }: Caller) {
  if (typeof token.projectId !== 'number') return { createdBy: user.id, latestDay: null }
  const own = await findToken(transaction, token.id)
  if (!own) throw unauthenticated()
  return { createdBy: own.createdBy, latestDay: own.expiresAt }
}

function botNames(project: Project) {
  const username = `project_${project.id}_bot_${randomBytes(8).toString('hex')}`
  // `.invalid` is reserved: no mail can ever reach anybody.
  return { username, email: `${username}@noreply.switchyard.invalid` }
}
