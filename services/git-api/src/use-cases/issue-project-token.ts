import { randomBytes } from 'node:crypto'
import {
  type AuditAuthor,
  createMember,
  createUser,
  inTransaction,
  type Project,
  recordAuditEvent,
} from '@switchyard/db'
import { forbidden } from '@switchyard/domain'
import type { Scope } from '@switchyard/domain/access'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { type IssuedToken, issueToken } from './issue-token.js'

export interface NewProjectToken {
  name: string
  scopes: readonly Scope[]
  accessLevel: number
  expiresAt: Date | null
}

/**
 * Issues a token that works in one project only, with a role of its own: it acts as a bot that is a member
 * of the project.
 *
 * @throws DomainError forbidden for a role above the caller's; invalid when its last day has passed
 */
export async function issueProjectToken(
  { database }: Pick<Dependencies, 'database'>,
  { project, level }: ProjectCall,
  { name, scopes, accessLevel, expiresAt }: NewProjectToken,
  author: AuditAuthor,
): Promise<IssuedToken> {
  if (accessLevel > level) throw forbidden()
  return inTransaction(database, async (transaction) => {
    const bot = await createUser(transaction, { ...botNames(project), name, admin: false, bot: true })
    await createMember(transaction, { projectId: project.id, userId: bot.id, accessLevel })
    const token = { userId: bot.id, projectId: project.id, name, scopes, expiresAt }
    const issued = await issueToken(transaction, token)
    await recordAuditEvent(transaction, author, {
      eventName: 'project_access_token_created',
      entityType: 'Project',
      entityId: project.id,
      details: { name, scopes: [...scopes], access_level: accessLevel },
    })
    return issued
  })
}

function botNames(project: Project) {
  const username = `project_${project.id}_bot_${randomBytes(8).toString('hex')}`
  // `.invalid` is reserved: no mail can ever reach anybody.
  return { username, email: `${username}@noreply.switchyard.invalid` }
}
