import { identityKey } from '@switchyard/callers'
import { type Database, inTransaction, recordAuditEvent } from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import { startOfDay } from '@switchyard/domain/access'
import { type AuthenticateFrom, auditAuthor, type Call, hashToken } from '@switchyard/service-kit/http'
import { createToken } from '../tokens/store.js'
import { newSecret } from '../tokens/tokens.js'
import { lockRuleOfBot, rememberExchange } from './store.js'

export interface ExchangeDependencies {
  database: Database
  sessions: {
    /** Finds the holder of a token, and counts the unknown tokens of each address. */
    authenticate: AuthenticateFrom
  }
}

export const exchangedSeconds = 3600
/** Time for which an exchange is remembered. An identity token is valid for an hour at most. */
const rememberedMs = 2 * 3600 * 1000

/**
 * Exchanges the identity token of a CI job for a token that is valid for an hour. Each identity token can be
 * exchanged once.
 *
 * @param project where the job wants to act, by id or full path; undefined: outside of projects
 * @returns the secret, which is not stored, and the scopes
 * @throws DomainError invalid for a token that is not valid or trusted there, and for one that was exchanged
 *   before; rate-limited; unavailable while the issuer is away
 */
export async function exchangeIdentity(
  { database, sessions }: ExchangeDependencies,
  { token, project }: { token: string; project: string | undefined },
  call: Call,
): Promise<{ secret: string; scopes: readonly string[] }> {
  const caller = await sessions.authenticate(token, call.raw.request.ip ?? '', project, () => call.signal)
  const refusal = () => invalid('the identity token is not valid, or no rule about CI jobs lets it act there')
  // A token that is stored is not an identity token.
  if (!caller?.token.job || caller.token.id !== 0) throw refusal()
  const { user, token: held } = caller
  const { job: identity, scopes, tenants = [], projectId = null } = caller.token
  const secret = newSecret()
  const endsAt = new Date(Date.now() + exchangedSeconds * 1000)
  await inTransaction(database, async (transaction) => {
    const rule = await lockRuleOfBot(transaction, user.id)
    if (!rule) throw refusal()
    const isNew = await rememberExchange(transaction, identityKey(token), new Date(Date.now() + rememberedMs))
    if (!isNew) throw invalid('the identity token was exchanged before')
    const { name, createdBy } = rule
    const stored = await createToken(transaction, {
      userId: user.id,
      name,
      scopes,
      tenants,
      tokenHash: hashToken(secret),
      expiresAt: startOfDay(endsAt),
      ...(projectId !== null && { project: { projectId, createdBy } }),
      job: { identity, createdBy, endsAt },
    })
    await recordAuditEvent(transaction, auditAuthor(caller, call), {
      eventName: 'identity_token_exchanged',
      ...(projectId === null
        ? { entityType: 'User', entityId: user.id }
        : { entityType: 'Project', entityId: projectId }),
      details: { name, issued_token_id: stored.id, scopes: [...held.scopes] },
    })
  })
  return { secret, scopes }
}
