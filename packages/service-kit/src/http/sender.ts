import { isRefusal } from '@switchyard/domain'
import { type Caller, countedToken } from '@switchyard/domain/access'
import type { Request } from 'express'
import ipaddr from 'ipaddr.js'
import type { Slots } from '../slots.js'
import { type AuthenticateFrom, callerOf, tokenKey, tokenOf, tokenOrPasswordOf } from './authentication.js'
import type { Call, Route } from './endpoint.js'
import { mayChange, requestedUrl, requireOwnOrigin } from './own-origin.js'
import { sessionSecretOf } from './session-cookie.js'

export interface Sender {
  /** Null: the request is anonymous. */
  caller: Caller | null
  /** Requests with the same key are counted together. */
  limitKey: string
}

/** @param signal as for {@link AuthenticateFrom} */
export type FindSender = (route: Route, request: Request, signal?: () => AbortSignal) => Promise<Sender>

export interface SenderOptions {
  /** Finds the holder of a token. */
  authenticate: AuthenticateFrom
  /** Finds the holder of a session by the secret in its cookie. */
  authenticateSession: AuthenticateFrom
  externalUrl?: string | undefined
  /**
   * Returns the project that a request names, by id or full path; undefined: none. Unset: no request names
   * one.
   */
  projectOf?: ((route: Route, params: Call['params']) => string | undefined) | undefined
}

/**
 * Creates a function that finds the sender of a request: the holder of the token in its headers, otherwise
 * the holder of the session in its cookies. Routes outside of the API, such as those of git, accept no
 * cookie. A cookie that does not work is ignored, even at an address that has sent too many of them, because
 * a browser sends it by itself, also while its user signs in again.
 *
 * The function throws DomainError unauthenticated for a token that does not work. It throws forbidden for a
 * request with a cookie that may change something and comes from a page of another origin.
 */
export function createFindSender({
  authenticate,
  authenticateSession,
  externalUrl,
  projectOf,
}: SenderOptions): FindSender {
  const sessionOf: AuthenticateFrom = async (...given) => {
    try {
      return await authenticateSession(...given)
    } catch (error) {
      if (isRefusal(error, 'rate-limited')) return null
      throw error
    }
  }
  return async (route, request, signal) => {
    const address = request.ip ?? ''
    const token = tokenOfRoute(route, request)
    if (token !== null) {
      const project = projectOf?.(route, request.params as Call['params'])
      const caller = await callerOf(token, (given) => authenticate(given, address, project, signal))
      return { caller, limitKey: tokenLimitKey(caller, token) }
    }
    const baseUrl = externalUrl ?? requestedUrl(request)
    const secret = route.outsideApi ? null : sessionSecretOf(request, baseUrl)
    if (secret !== null) {
      if (mayChange(request)) requireOwnOrigin(request, baseUrl)
      const caller = await sessionOf(secret, address, undefined, signal)
      if (caller) return { caller, limitKey: sessionsKey(caller) }
    }
    return { caller: null, limitKey: `address ${senderAddress(address)}` }
  }
}

/**
 * Returns the key of the sender for slots and memory: the user or deploy token, the rule and subject of a CI
 * job, otherwise the address.
 */
export function senderKey({ caller, raw }: Pick<Call, 'caller' | 'raw'>): string {
  if (!caller) return `address ${senderAddress(raw.request.ip)}`
  return caller.token.job ? countedToken(caller) : `user ${caller.user.id}`
}

/**
 * Does the work of a call once its sender has a slot.
 *
 * @throws DomainError as {@link Slots.run}
 */
export const inSlot = <Result>(
  slots: Slots,
  call: Pick<Call, 'caller' | 'raw' | 'signal'>,
  work: () => Promise<Result>,
): Promise<Result> => slots.run({ sender: senderKey(call) }, call.signal, work)

const tokenLimitKey = (caller: Caller | null, token: string): string =>
  caller?.token.job ? countedToken(caller) : tokenKey(token)

/**
 * Bits of an IPv6 network that count as one sender, because a provider gives each customer at least such a
 * network.
 */
const networkBits = 64

/**
 * Returns the form of an address by which senders are counted: an IPv4 address, or the network of an IPv6
 * address, because its holder can use 2^64 addresses.
 */
export function senderAddress(ip: string | undefined): string {
  if (ip === undefined || !ipaddr.isValid(ip)) return ip ?? ''
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/${networkBits}`)}/${networkBits}`
}

/** Returns the sender of a request and its address for the audit log. */
export const auditAuthor = ({ user, token }: Caller, { requestId, raw }: Call) => ({
  authorId: user.id,
  authorName: user.name,
  tokenId: token.id,
  requestId,
  ipAddress: raw.request.ip ?? null,
  ...(token.job && { job: token.job }),
})

/** Returns the key of all sessions of a token, so that a new session brings no new share of a limit. */
const sessionsKey = ({ token }: Caller): string => `sessions of token ${token.id}`

const tokenOfRoute = ({ basicAuthentication }: Route, { headers }: Request) =>
  basicAuthentication ? tokenOrPasswordOf(headers) : tokenOf(headers)
