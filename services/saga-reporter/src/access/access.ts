import type { PeerCertificate } from 'node:tls'
import { DomainError, forbidden, insufficientScope, unauthenticated, unavailable } from '@switchyard/domain'
import {
  boundTenantsOf,
  type Caller,
  countedToken,
  requireAdministratorOrScope,
  requireTenant,
  requireUnboundToken,
} from '@switchyard/domain/access'
import { parseEventTime, type RawSagaEvent } from '@switchyard/domain/saga'
import {
  type AuthenticateFrom,
  callerOf,
  senderAddress,
  tokenKey,
  tokenOf,
} from '@switchyard/service-kit/http'
import { LRUCache } from 'lru-cache'
import type { ArrivedCall } from '../grpc/grpc.js'
import type { Peer, PeerBindings } from '../shapes/peer.js'
import { tokenHeaders } from './metadata.js'

/**
 * The identification of reporters: only the tokens that they send, a required token of scope `saga_report`,
 * or the name in their certificate.
 */
export type SagaAuth =
  | { auth: 'none' | 'token'; authenticate: AuthenticateFrom }
  | { auth: 'mtls'; peers: PeerBindings }

/** A sender of reports whose call was admitted. */
export interface Reporter {
  peer: Peer
  address: string
}

/**
 * A function that admits the callers that may report events.
 *
 * @throws DomainError unauthenticated | insufficient-scope | forbidden | rate-limited | unavailable
 */
export type AdmitReporter = (call: ArrivedCall) => Promise<Reporter>

export function createAdmitReporter(options: SagaAuth): AdmitReporter {
  const peerOf = peersBy(options)
  return async (call) => {
    const address = senderAddress(call.address)
    return { peer: await peerOf(call, address), address }
  }
}

/** A reader of sagas whose token was valid when the call began. */
export interface Reader {
  caller: Caller
  address: string
  /** @throws DomainError when the token is no longer valid */
  recheck: () => Promise<unknown>
}

/**
 * A function that admits administrators and tokens with scope `read_sagas`, even when reporters need no
 * token.
 *
 * @throws DomainError unauthenticated | insufficient-scope | forbidden | rate-limited | unavailable
 */
export type AdmitReader = (call: ArrivedCall) => Promise<Reader>

/**
 * @param authenticateAgain finds the holder of a token that was valid when its call began; a token that no
 *   longer works does not count towards the limit of unknown tokens
 */
export function createAdmitReader(
  authenticate: AuthenticateFrom,
  authenticateAgain: AuthenticateFrom,
): AdmitReader {
  return async (call) => {
    const headers = tokenHeaders(call.metadata)
    const address = senderAddress(call.address)
    const readerBy = async (find: AuthenticateFrom) => {
      try {
        const caller = await callerOf(tokenOf(headers), (secret) =>
          find(secret, address, undefined, call.signal),
        )
        return requireAdministratorOrScope(caller, 'read_sagas')
      } catch (error) {
        throw asTokenFailure(error)
      }
    }
    return { caller: await readerBy(authenticate), address, recheck: () => readerBy(authenticateAgain) }
  }
}

type PeerOf = (call: ArrivedCall, address: string) => Peer | Promise<Peer>

function peersBy(options: SagaAuth): PeerOf {
  if (options.auth === 'mtls') return byCertificate(options.peers)
  if (options.auth === 'token') return byToken(options.authenticate, peerOfCaller)
  return byShownToken(options.authenticate)
}

const everybody: Peer = { name: null, service: null, tenants: null }

/**
 * Lets everybody report. A caller with a token that is bound to tenants can only report for them, so that it
 * can read its own reports.
 */
function byShownToken(authenticate: AuthenticateFrom): PeerOf {
  const peerOf = byToken(authenticate, (caller) => ({
    ...everybody,
    tenants: caller ? boundTenantsOf(caller) : null,
  }))
  return async (call, address) => {
    if (tokenOf(tokenHeaders(call.metadata)) === null) return everybody
    try {
      return await peerOf(call, address)
    } catch (error) {
      // An address that sends many unknown tokens may still report without a token.
      if (error instanceof DomainError && error.kind !== 'unavailable') return everybody
      throw error
    }
  }
}

/**
 * Time for which results are cached. Together with the half second for which authentication caches tokens, a
 * revoked token stops working within a second.
 */
const rememberedMs = 400

type Known = { peer: Peer } | { refusal: DomainError }

function byToken(authenticate: AuthenticateFrom, peerFor: (caller: Caller | null) => Peer): PeerOf {
  const remembered = new LRUCache<string, Known>({ max: 10_000, ttl: rememberedMs })
  const lookUp: (...given: Parameters<AuthenticateFrom>) => Promise<Known> = async (...given) => {
    try {
      return { peer: peerFor(await authenticate(...given)) }
    } catch (error) {
      // The limit belongs to the address, not to the token, so it is not cached for the token.
      if (error instanceof DomainError && error.kind !== 'rate-limited') return { refusal: error }
      throw asTokenFailure(error)
    }
  }
  return async ({ metadata, signal }, address) => {
    const secret = tokenOf(tokenHeaders(metadata))
    if (secret === null) throw unauthenticated()
    const key = tokenKey(secret)
    let known = remembered.get(key)
    if (!known) {
      known = await lookUp(secret, address, undefined, signal)
      remembered.set(key, known)
    }
    if ('refusal' in known) throw known.refusal
    return known.peer
  }
}

/** Turns a failed token look-up into unavailable, not unauthenticated. */
const asTokenFailure = (error: unknown): unknown =>
  error instanceof DomainError ? error : unavailable('tokens cannot be checked', { cause: error })

/**
 * Returns the peer that holds a token: of scope `saga_report`, or of scope `api` and an administrator.
 *
 * @param isForCertificates only holders of certificates may report
 * @throws DomainError unauthenticated | insufficient-scope | forbidden
 */
export function peerOfCaller(caller: Caller | null, isForCertificates = false): Peer {
  if (!caller) throw unauthenticated()
  const { user, token } = requireUnboundToken(caller)
  const mayReport = token.scopes.includes('saga_report') || (user.admin && token.scopes.includes('api'))
  if (!mayReport) throw insufficientScope(['saga_report'])
  if (isForCertificates) throw forbidden('events are reported over gRPC with a certificate')
  const peer = { name: countedToken(caller), service: null, tenants: boundTenantsOf(caller) }
  return token.job ? { ...peer, isJob: true } : peer
}

function byCertificate(peers: PeerBindings): PeerOf {
  return ({ getAuthContext }) => {
    const certificate = getAuthContext().sslPeerCertificate
    if (!certificate) throw unauthenticated()
    const bound = certificateNames(certificate).find((name) => peers.has(name))
    const peer = bound === undefined ? undefined : peers.get(bound)
    if (!peer) throw forbidden('this certificate belongs to no known peer')
    return peer
  }
}

/**
 * Returns the names that a certificate gives its holder: the DNS and URI names of subjectAltName, otherwise
 * the common name.
 */
export function certificateNames({ subjectaltname = '', subject }: Partial<PeerCertificate>): string[] {
  const names: string[] = []
  // Node quotes values that contain commas, so every entry is read from the end of the previous one: text
  // within quotes must never count as a name.
  const entry = /(?:^|, )(?<type>[^:",]+):(?<value>"(?:[^"\\]|\\.)*"|[^",]*)/y
  for (let match = entry.exec(subjectaltname); match; match = entry.exec(subjectaltname)) {
    const { type = '', value = '' } = match.groups ?? {}
    if (type === 'DNS' || type === 'URI') names.push(value.startsWith('"') ? JSON.parse(value) : value)
  }
  if (names.length > 0) return names
  const commonName: unknown = subject?.CN
  return typeof commonName === 'string' ? [commonName] : []
}

/** @throws DomainError forbidden for a tenant that the peer may not report for */
export function requireOwnTenant(peer: Peer, tenant: string): void {
  requireTenant(peer.tenants, tenant)
  if (peer.foreignTenants?.has(tenant))
    throw forbidden(`this certificate does not report for tenant ${tenant}`)
}

/** @throws DomainError forbidden for sagas of a tenant or a service that the peer may not act for */
export function requireOwnSagas(
  peer: Peer,
  { tenant, serviceName }: { tenant: string; serviceName: string },
) {
  requireOwnTenant(peer, tenant)
  if (peer.service !== null && serviceName !== peer.service)
    throw forbidden(`only for service ${peer.service}`)
}

/** @throws DomainError forbidden for an event that names a service that the peer may not report for */
export function requireOwnService(peer: Peer, event: RawSagaEvent): void {
  if (peer.service === null) return
  const named = serviceNameOf(event)
  if (named !== null && named !== peer.service) {
    throw forbidden(`this certificate reports for service ${peer.service} only`)
  }
}

/**
 * Returns the service that an event names; null when it names none. Field 2 of SagaEnded may be a time
 * instead.
 */
export function serviceNameOf(event: RawSagaEvent): string | null {
  if (event.operation !== 'SagaStarted' && event.operation !== 'SagaEnded') return null
  const name = event.serviceName.trim()
  if (name === '') return null
  return event.operation === 'SagaEnded' && parseEventTime(name) !== null ? null : name
}
