import { randomBytes, randomInt } from 'node:crypto'
import {
  type Database,
  type DeviceAuthorization,
  inTransaction,
  type PrismaTransaction,
} from '@switchyard/db'
import { dayMs, forbidden, notFound, rateLimited, unavailable } from '@switchyard/domain'
import {
  boundTenantsOf,
  type Caller,
  earlierDay,
  hasExpired,
  includesScopes,
  type Scope,
  startOfDay,
} from '@switchyard/domain/access'
import {
  auditAuthor,
  type Call,
  type CreateLimiter,
  hashToken,
  senderAddress,
} from '@switchyard/service-kit/http'
import { recordUserEvent } from '../../audit/audit.js'
import { getOwnToken, issueToken } from '../tokens/tokens.js'
import {
  createDeviceAuthorization,
  decide,
  deleteDeviceAuthorization,
  findUndecided,
  type LockedDeviceAuthorization,
  lockAndCountWaiting,
  lockByDeviceCode,
  notePoll,
} from './store.js'

export interface DeviceDependencies {
  database: Database
  /** Lifetime in days of tokens that users allow to programs. Unset: users cannot allow any. */
  deviceTokenDays?: number | undefined
  /** Counts the wrong codes of each user and of each address. */
  deviceCodeLimiter: ReturnType<CreateLimiter>
}

/** Time for which the codes of a request are valid. */
export const requestSeconds = 600
export const intervalSeconds = 5
const waitingMax = { all: 10_000, ofAddress: 20 }
/** Limits of wrong codes within `requestSeconds`, for one user and for one address. */
const wrongCodesMax = { ofUser: 10, ofAddress: 50 }
export const deviceCodeLimit = {
  name: 'device-codes',
  points: wrongCodesMax.ofAddress,
  durationSeconds: requestSeconds,
}

/** Only consonants, so that no code is a word, and no characters that look like others. */
const codeCharacters = 'BCDFGHJKLMNPQRSTVWXZ'
const codeLength = 8
const newUserCode = () =>
  Array.from({ length: codeLength }, () => codeCharacters[randomInt(codeCharacters.length)]).join('')

/** Returns a code as users see it: `WDJBMJHT` becomes `WDJB-MJHT`. */
const shownCode = (code: string) => `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`
/** Returns the hash of a typed code. People type codes in lower case, with blanks or without the hyphen. */
const userCodeHash = (typed: string) => hashToken(typed.toUpperCase().replace(/[^A-Z]+/g, ''))

export interface BegunAuthorization {
  /** The secret that the program keeps. */
  deviceCode: string
  /** The code that the user types or compares. */
  userCode: string
}

/**
 * Stores the request of a program for a token. The user who allows the request owns the token.
 *
 * @throws DomainError rate-limited when too many requests of the address wait, unavailable when too many wait
 *   altogether
 */
export async function beginAuthorization(
  { database }: Pick<DeviceDependencies, 'database'>,
  { clientId, scopes }: { clientId: string; scopes: Scope[] },
  call: Call,
): Promise<BegunAuthorization> {
  const deviceCode = randomBytes(32).toString('base64url')
  const userCode = newUserCode()
  const address = senderAddress(call.raw.request.ip)
  await inTransaction(database, async (transaction) => {
    const waiting = await lockAndCountWaiting(transaction, address)
    if (waiting.ofAddress >= waitingMax.ofAddress)
      throw rateLimited('too many programs of this address wait to be allowed', requestSeconds * 1000)
    if (waiting.all >= waitingMax.all) throw unavailable('too many programs wait to be allowed')
    await createDeviceAuthorization(transaction, {
      clientId,
      scopes,
      address,
      intervalSeconds,
      deviceCodeHash: hashToken(deviceCode),
      userCodeHash: userCodeHash(userCode),
      expiresAt: new Date(Date.now() + requestSeconds * 1000),
    })
  })
  return { deviceCode, userCode: shownCode(userCode) }
}

/**
 * Returns the undecided request with the code that a user typed, and the last day of the token that the
 * program would get.
 *
 * @throws DomainError forbidden without a session, and for a project token; rate-limited after too many wrong
 *   codes; not-found for a code that is wrong, that was used for a decision, or that has expired
 */
export async function getUndecided(
  deps: DeviceDependencies,
  caller: Caller,
  typed: string,
  call: Call,
): Promise<{ request: DeviceAuthorization; lastDay: Date }> {
  if (!caller.session) throw forbidden('Programs are allowed in a browser: sign in to the console')
  if (typeof caller.token.projectId === 'number')
    throw forbidden('A project token allows no program a token of a user')
  const request = await limitingGuesses(deps, caller, call, () =>
    findUndecided(deps.database, userCodeHash(typed)),
  )
  if (!request) throw notFound('Code')
  return { request, lastDay: await lastDayFor(deps, caller) }
}

/**
 * Counts an attempt before it looks the code up, so that parallel requests cannot try more codes, and takes
 * the attempt back when the code is right.
 */
async function limitingGuesses<Found>(
  { deviceCodeLimiter }: DeviceDependencies,
  { user }: Caller,
  { raw }: Call,
  find: () => Promise<Found | null>,
): Promise<Found | null> {
  const counted = [
    { key: `user ${user.id}`, max: wrongCodesMax.ofUser },
    { key: `address ${senderAddress(raw.request.ip)}`, max: wrongCodesMax.ofAddress },
  ]
  for (const { key, max } of counted) {
    const { consumedPoints, msBeforeNext } = await deviceCodeLimiter.penalty(key)
    if (consumedPoints > max) throw rateLimited('Too many wrong codes. Try again later.', msBeforeNext)
  }
  const found = await find()
  if (found) await Promise.all(counted.map(({ key }) => deviceCodeLimiter.reward(key)))
  return found
}

/** Returns the last day of the new token, which is not after the last day of the session's token. */
async function lastDayFor({ database, deviceTokenDays = 0 }: DeviceDependencies, caller: Caller) {
  const { expiresAt } = await getOwnToken(database, caller)
  const latest = new Date(startOfDay(new Date()).getTime() + deviceTokenDays * dayMs)
  return earlierDay(latest, expiresAt) ?? latest
}

/**
 * Allows or denies the request of a program. The token of the program has at most the rights of the session.
 *
 * @throws DomainError as {@link getUndecided} does; forbidden to allow more than the session may do
 */
export async function decideAuthorization(
  deps: DeviceDependencies,
  caller: Caller,
  { typed, isAllowed }: { typed: string; isAllowed: boolean },
  call: Call,
): Promise<void> {
  const { request, lastDay } = await getUndecided(deps, caller, typed, call)
  const scopes = request.scopes as Scope[]
  const beyond = scopes.filter((scope) => !includesScopes(caller.token.scopes, [scope]))
  if (isAllowed && beyond.length > 0) throw forbidden(`This session may not give ${beyond.join(', ')}`)
  const tenants = [...(boundTenantsOf(caller) ?? [])]
  const decision = { allowed: isAllowed, tokenId: caller.token.id, lastDay, tenants }
  await inTransaction(deps.database, async (transaction) => {
    if (!(await decide(transaction, userCodeHash(typed), decision))) throw notFound('Code')
    const event = isAllowed ? 'device_allowed' : 'device_denied'
    await recordUserEvent(transaction, auditAuthor(caller, call), caller.user.id, event, {
      name: request.clientId,
      scopes,
      address: request.address,
    })
  })
}

/** The reason why a program gets no token, as a code of RFC 8628 (3.5) and RFC 6749 (5.2). */
export type NoToken =
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'invalid_grant'

interface DeviceToken {
  secret: string
  scopes: readonly string[]
  lastDay: Date | null
}

/** Returns the token of an allowed request, once, or the reason why the program gets none. */
export const redeemDeviceCode = (
  { database }: Pick<DeviceDependencies, 'database'>,
  { deviceCode, clientId }: { deviceCode: string; clientId: string },
  call: Call,
): Promise<DeviceToken | NoToken> =>
  inTransaction(database, async (transaction) => {
    const request = await lockByDeviceCode(transaction, hashToken(deviceCode))
    if (request?.clientId !== clientId) return 'invalid_grant'
    if (request.expiresAt <= new Date()) return 'expired_token'
    if (request.allowed === null) {
      const isTooSoon = asksTooSoon(request)
      await notePoll(transaction, request.id, request.intervalSeconds + (isTooSoon ? intervalSeconds : 0))
      return isTooSoon ? 'slow_down' : 'authorization_pending'
    }
    if (!request.allowed || !stillCounts(request.token)) return 'access_denied'
    await deleteDeviceAuthorization(transaction, request.id)
    return issueTo(transaction, request, request.token, call)
  })

async function issueTo(
  transaction: PrismaTransaction,
  { clientId: name, scopes, tenants, lastDay }: DeviceAuthorization,
  { id, userId, user }: DecidingToken,
  call: Call,
): Promise<DeviceToken> {
  const given = { userId, name, scopes: scopes as Scope[], tenants, expiresAt: lastDay }
  const { token, secret } = await issueToken(transaction, given, null)
  const author = auditAuthor({ user, token: { id, scopes: [] } }, call)
  await recordUserEvent(transaction, author, userId, 'personal_access_token_created', {
    name,
    scopes,
    device: true,
    issued_token_id: token.id,
    ...(tenants.length > 0 && { tenants }),
  })
  return { secret, scopes, lastDay }
}

/**
 * Returns whether the program asks before its interval has passed. Each early question makes the interval
 * longer.
 */
const asksTooSoon = ({ polledAt, intervalSeconds: seconds }: DeviceAuthorization) =>
  polledAt !== null && Date.now() - polledAt.getTime() < seconds * 1000

type DecidingToken = NonNullable<LockedDeviceAuthorization['token']>

/**
 * Returns whether the decision still holds: meanwhile the user may be blocked, or the session's token
 * revoked.
 */
const stillCounts = (token: DecidingToken | null): token is DecidingToken =>
  token !== null &&
  token.revokedAt === null &&
  !hasExpired(token.expiresAt, new Date()) &&
  token.user.state === 'active'
