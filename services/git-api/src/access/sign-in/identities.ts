import { type AuditAuthor, type Database, inTransaction, onTaken } from '@switchyard/db'
import { conflict, forbidden, notFound, unavailable } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import type { Call } from '@switchyard/service-kit/http'
import { recordUserEvent } from '../../audit/audit.js'
import { lockActiveAdministrators } from '../users/store.js'
import { getUser } from '../users/users.js'
import { readPerson } from './claims.js'
import type { Flow } from './flow.js'
import { takeGroupsAway } from './groups.js'
import { issuerOf, type Provider, type ProviderAnswer } from './provider.js'
import { refused, SignInRefused } from './refusals.js'
import { authorOf, identityDetails, requireAllowed, type SignInDependencies } from './sign-in.js'
import * as store from './store.js'

/** @throws DomainError not-found for the user */
export async function listIdentities(database: Database, userId: number) {
  await getUser(database, userId)
  return store.listIdentities(database, [userId])
}

/**
 * Returns the session whose user may get an account at a provider linked.
 *
 * @throws DomainError forbidden for a token in place of a session, and for one that may do less than the
 *   user: signing in by the account would do more
 */
export function linkingSession({ user, token, session }: Caller): NonNullable<Flow['link']> {
  if (!session) throw forbidden('Accounts are linked in a browser: sign in to the console')
  if (typeof token.projectId === 'number') throw forbidden('A project token has no account to link')
  if (boundTenantsOf({ user, token })) throw forbidden('This token is bound to tenants, and links no account')
  return { userId: user.id, tokenId: token.id, sessionId: session.id }
}

/**
 * Returns the address at the provider where linking begins.
 *
 * @throws DomainError unavailable when the provider does not answer
 */
export async function linkingUrl(provider: Provider, flow: Flow): Promise<string> {
  try {
    return await provider.authorizationUrl(flow)
  } catch (error) {
    throw error instanceof SignInRefused
      ? unavailable('the provider does not answer', { cause: error })
      : error
  }
}

/**
 * Links the account at a provider with which a signed-in user has come back.
 *
 * @throws SignInRefused when the session is over, when the account is linked to somebody else, and for an
 *   account that may not come in
 */
export async function linkFromBrowser(
  { database }: SignInDependencies,
  { settings }: Provider,
  answer: ProviderAnswer,
  { userId, tokenId, sessionId }: NonNullable<Flow['link']>,
  call: Call,
): Promise<void> {
  requireAllowed(answer, readPerson(answer.claims, settings), settings)
  await inTransaction(database, async (transaction) => {
    await store.lockIdentity(transaction, answer)
    const user = await getUser(transaction, userId)
    if (user.state !== 'active') throw refused('blocked')
    if (!(await store.isSessionOpen(transaction, sessionId))) throw refused('other_browser')
    const found = await store.findIdentity(transaction, answer)
    if (found?.userId === userId) return
    if (found) throw refused('identity_taken')
    const { issuer, subject } = answer
    const identity = await store.createIdentity(transaction, {
      userId,
      provider: settings.name,
      issuer,
      subject,
    })
    const author = authorOf(user, { id: tokenId }, call)
    await recordUserEvent(transaction, author, userId, 'identity_linked', identityDetails(identity))
  })
}

/**
 * Links an account at a provider to a user, without asking the provider.
 *
 * @throws DomainError not-found for the user; conflict when the account is linked already
 */
export async function linkIdentity(
  database: Database,
  { settings }: Provider,
  { userId, subject }: { userId: number; subject: string },
  author: AuditAuthor,
) {
  await getUser(database, userId)
  const identity = { userId, provider: settings.name, issuer: issuerOf(settings), subject }
  return inTransaction(database, async (transaction) => {
    const linked = await store.createIdentity(transaction, identity)
    await recordUserEvent(transaction, author, userId, 'identity_linked', identityDetails(linked))
    return linked
  }).catch(onTaken((cause) => conflict('Subject is linked already', { cause })))
}

const lastWayIn =
  'This is your only way to sign in. Link another account first, or make a token with which you can sign in'

/**
 * Deletes a link, its sessions, and the rights that its groups have granted.
 *
 * @param keepsWayIn whether the user must have another way to sign in
 * @throws DomainError not-found; conflict for the last way in
 */
export async function unlinkIdentity(
  { database, guards, forgetUsers, sessions, signInProviders }: SignInDependencies,
  { userId, id, keepsWayIn }: { userId: number; id: number; keepsWayIn: boolean },
  author: AuditAuthor,
): Promise<void> {
  const projects = await inTransaction(database, async (transaction) => {
    const found = await store.findIdentityOfUser(transaction, userId, id)
    if (!found) throw notFound()
    // A sign-in takes its locks in the same order: the account, the administrators, other rows.
    await store.lockIdentity(transaction, found)
    const identity = await store.findIdentityOfUser(transaction, userId, id)
    if (!identity) throw notFound()
    if (identity.gaveAdmin) await lockActiveAdministrators(transaction)
    const isAdministrator = identity.user.admin && !identity.gaveAdmin
    const tokensCount = sessions.tokenSignIn === 'everybody' || isAdministrator
    const ways = { providers: [...signInProviders.keys()], tokensCount }
    if (keepsWayIn && !(await store.hasOtherWayIn(transaction, identity, ways))) throw conflict(lastWayIn)
    const changed = await takeGroupsAway(transaction, identity, author)
    await store.deleteIdentity(transaction, identity)
    await recordUserEvent(transaction, author, userId, 'identity_unlinked', identityDetails(identity))
    return changed
  })
  forgetUsers([userId])
  for (const project of projects) guards.noteChange(project)
}
