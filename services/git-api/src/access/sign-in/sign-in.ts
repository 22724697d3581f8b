import { randomBytes } from 'node:crypto'
import {
  type AuditAuthor,
  type Database,
  inTransaction,
  onTaken,
  type PersonalAccessToken,
  type PrismaTransaction,
  type User,
} from '@switchyard/db'
import { invalidParameters, notFound } from '@switchyard/domain'
import { userProblems } from '@switchyard/domain/access'
import { type Authenticator, auditAuthor, type Call, hashToken } from '@switchyard/service-kit/http'
import { recordUserEvent } from '../../audit/audit.js'
import type { ProjectGuards } from '../../guards.js'
import type { SignInProvider } from '../../sign-in-config.js'
import { beginSession, type SessionDependencies } from '../sessions/sessions.js'
import { createToken } from '../tokens/store.js'
import { createUser } from '../users/store.js'
import { type Person, readPerson } from './claims.js'
import { applyGroups, grantsOf } from './groups.js'
import { clockToleranceSeconds, type Provider, type ProviderAnswer } from './provider.js'
import { refused } from './refusals.js'
import {
  createIdentity,
  deleteSessionsOfProvider,
  findIdentity,
  type IdentityOfUser,
  lockIdentity,
  updateIdentity,
} from './store.js'

export interface SignInDependencies extends SessionDependencies {
  guards: Pick<ProjectGuards, 'noteChange'>
  forgetUsers: Authenticator['forgetUsers']
  /** The providers by name. Empty: there is no single sign-on. */
  signInProviders: ReadonlyMap<string, Provider>
  /** Longest lifetime in days of a token that users create for themselves. Unset: they cannot create any. */
  ownTokenDaysMax?: number | undefined
}

/** @throws DomainError not-found when the settings name no such provider */
export function getProvider({ signInProviders }: SignInDependencies, name: string): Provider {
  const provider = signInProviders.get(name)
  if (!provider) throw notFound('Provider')
  return provider
}

const subjectCharsMax = 255
/** A sign-in may take this long, because groups may grant roles in many projects. */
const signInMsMax = 30_000

/**
 * Finishes the sign-in of a person who comes back from a provider: finds the account that is bound to the
 * issuer and the subject, or creates one where the settings allow it, applies the rights of the groups, and
 * begins a session.
 *
 * @throws SignInRefused
 */
export async function finishSignIn(
  { database, guards, forgetUsers, sessions }: SignInDependencies,
  { settings }: Provider,
  answer: ProviderAnswer,
  call: Call,
): Promise<{ secret: string; expiresAt: Date }> {
  const person = readPerson(answer.claims, settings)
  requireAllowed(answer, person, settings)
  const work = async (transaction: PrismaTransaction) => {
    await lockIdentity(transaction, answer)
    const found = await findIdentity(transaction, answer)
    const identity = found ?? (await makeAccount(transaction, answer, person, settings))
    if (identity.user.state !== 'active') throw refused('blocked')
    const token = await tokenOf(transaction, identity, settings)
    const author = authorOf(identity.user, token, call)
    if (!found) await recordNewAccount(transaction, identity, author)
    await updateIdentity(transaction, identity.id, { tokenId: token.id, lastSignedInAt: new Date() })
    const projects = await applyGroups(transaction, identity, grantsOf(person.groups, settings), author)
    const signIn = {
      provider: settings.name,
      providerSessionId: answer.sessionId,
      endsAt: endOf(answer, settings),
    }
    const begun = await beginSession(transaction, sessions, { token, author, signIn })
    return { userId: identity.userId, projects, ...begun }
  }
  const { userId, projects, session, secret } = await inTransaction(database, work, signInMsMax)
  forgetUsers([userId])
  for (const project of projects) guards.noteChange(project)
  return { secret, expiresAt: session.expiresAt }
}

const endOf = ({ expiresAt }: ProviderAnswer, { session_seconds_max: seconds }: SignInProvider): Date =>
  seconds === 0 ? expiresAt : new Date(Date.now() + seconds * 1000)

/** @throws SignInRefused when the settings do not admit the person */
export function requireAllowed(
  { subject }: Pick<ProviderAnswer, 'subject'>,
  { email, groups }: Person,
  { allowed_domains: domains, allowed_groups: allowed }: SignInProvider,
): void {
  if (subject.length > subjectCharsMax) throw refused('not_verified')
  const domain = email?.split('@').at(-1)?.toLowerCase() ?? ''
  if (domains.length > 0 && !domains.includes(domain)) throw refused('not_allowed')
  if (allowed.length > 0 && !allowed.some((group) => groups.has(group))) throw refused('not_allowed')
}

/**
 * @throws SignInRefused where accounts are not created automatically, and when the username or the e-mail
 *   address is taken
 */
async function makeAccount(
  transaction: PrismaTransaction,
  { issuer, subject }: ProviderAnswer,
  { username, name, email: given }: Person,
  settings: SignInProvider,
): Promise<IdentityOfUser> {
  if (!settings.create_users) throw refused('no_account')
  // The domain `.invalid` is reserved: no mail is ever delivered there.
  const email = given ?? `${username}@noreply.switchyard.invalid`
  const problems = userProblems({ username, name, email })
  if (problems.username) throw refused('username_taken')
  if (Object.keys(problems).length > 0) throw refused('not_verified')
  const user = await createUser(transaction, { username, name, email, admin: false }).catch(refuseTaken)
  const identity = { userId: user.id, provider: settings.name, issuer, subject }
  return createIdentity(transaction, identity).catch(refuseTaken)
}

const refuseTaken = onTaken((_cause, index) =>
  refused(index.includes('email') ? 'email_taken' : 'username_taken'),
)

async function recordNewAccount(
  transaction: PrismaTransaction,
  { user, ...identity }: IdentityOfUser,
  author: AuditAuthor,
): Promise<void> {
  await recordUserEvent(transaction, author, user.id, 'user_created', {
    username: user.username,
    admin: false,
  })
  await recordUserEvent(transaction, author, user.id, 'identity_linked', identityDetails(identity))
}

/** Returns the details of an identity for the audit log. */
export const identityDetails = ({ provider, subject }: { provider: string; subject: string }) => ({
  provider,
  subject,
})

/** Returns the token that the sessions of an identity belong to. Nobody knows its secret. */
async function tokenOf(
  transaction: PrismaTransaction,
  { token, userId }: IdentityOfUser,
  { label }: SignInProvider,
): Promise<PersonalAccessToken> {
  if (token && token.revokedAt === null) return token
  return createToken(transaction, {
    userId,
    name: label,
    description: 'Sessions that began by single sign-on',
    tokenHash: hashToken(randomBytes(32).toString('base64url')),
    scopes: ['api'],
    expiresAt: null,
  })
}

export const authorOf = (user: User, { id }: { id: number }, call: Call): AuditAuthor =>
  auditAuthor({ user, token: { id, scopes: [] } }, call)

/**
 * Ends the sessions that a logout token of a provider says are over.
 *
 * @throws DomainError invalid-parameters for a token that is not valid, with the reason in the log
 */
export async function endSessionsOf(
  database: Database,
  provider: Provider,
  logoutToken: string,
  call: Call,
): Promise<void> {
  const logout = await provider.readLogout(logoutToken).catch((cause: unknown) => {
    const { name, message } = cause as Error
    const fields = { provider: provider.settings.name, error: { name, message } }
    call.logger.warn(fields, 'a logout token was refused')
    throw invalidParameters(['logout_token is invalid'])
  })
  await inTransaction(database, async (transaction) => {
    const begunUntil = new Date(logout.issuedAt.getTime() + clockToleranceSeconds * 1000)
    const ended = await deleteSessionsOfProvider(transaction, { ...logout, begunUntil })
    for (const { id, token } of ended) {
      const author = authorOf(token.user, token, call)
      await recordUserEvent(transaction, author, token.userId, 'user_signed_out', {
        session_id: id,
        by: 'provider',
      })
    }
  })
}
