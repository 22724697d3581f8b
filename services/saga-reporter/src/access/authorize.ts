import { hash } from 'node:crypto'
import { DomainError, forbidden, unauthenticated, unavailable } from '@switchyard/domain'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import { type AuthenticateFrom, tokenOf } from '@switchyard/service-kit/http'
import { LRUCache } from 'lru-cache'
import { certificateNames, type Peer, type PeerBindings } from './peer.js'
import { reporterOf } from './reporter.js'

/** What is known about the sender of a call. */
export interface Credentials {
  headers: { 'private-token'?: string | undefined; authorization?: string | undefined }
  address: string
  /** The certificate of its connection. */
  getCertificate: () => Parameters<typeof certificateNames>[0] | undefined
}

/**
 * Identifies the sender of a call, or refuses the call.
 *
 * @throws DomainError unauthenticated | insufficient-scope | forbidden | rate-limited | unavailable
 */
export type Authorize = (credentials: Credentials) => Peer | Promise<Peer>

/** How callers are identified: only by tokens that they show, by a token of scope `saga_report`, or by the name in their certificate. */
export type SagaAuth =
  | { auth: 'none' | 'token'; authenticate: AuthenticateFrom }
  | { auth: 'mtls'; peers: PeerBindings }

export function createAuthorize(options: SagaAuth): Authorize {
  if (options.auth === 'mtls') return byCertificate(options.peers)
  if (options.auth === 'token') return byToken(options.authenticate, reporterOf)
  return byShownToken(options.authenticate)
}

const everybody: Peer = { name: null, service: null, tenants: null }

/** Lets everybody report; who shows a token that is bound to tenants is held to them, so that it finds again what it reported. */
function byShownToken(authenticate: AuthenticateFrom): Authorize {
  const authorize = byToken(authenticate, (caller) => ({
    ...everybody,
    tenants: caller ? boundTenantsOf(caller) : null,
  }))
  return async (credentials) => {
    if (tokenOf(credentials.headers) === null) return everybody
    try {
      return await authorize(credentials)
    } catch (error) {
      // An address that shows many unknown tokens may report without one, too.
      if (error instanceof DomainError && error.kind !== 'unavailable') return everybody
      throw error
    }
  }
}

/**
 * Verdicts are remembered for this long. Together with the half second for which authentication remembers tokens, a revoked token
 * stops working within a second.
 */
const verdictMs = 400

type Verdict = { peer: Peer } | { refusal: DomainError }

function byToken(authenticate: AuthenticateFrom, peerFor: (caller: Caller | null) => Peer): Authorize {
  const verdicts = new LRUCache<string, Verdict>({ max: 10_000, ttl: verdictMs })
  const judge = async (secret: string, address: string): Promise<Verdict> => {
    try {
      return { peer: peerFor(await authenticate(secret, address)) }
    } catch (error) {
      // The limit belongs to the address, not to the token, so it is not remembered for the token.
      if (error instanceof DomainError && error.kind !== 'rate-limited') return { refusal: error }
      throw asTokenFailure(error)
    }
  }
  return async ({ headers, address }) => {
    const secret = tokenOf(headers)
    if (secret === null) throw unauthenticated()
    const key = hash('sha256', secret, 'base64')
    const known = verdicts.get(key)
    if (known) return peerOf(known)
    const verdict = await judge(secret, address)
    verdicts.set(key, verdict)
    return peerOf(verdict)
  }
}

/** A token that could not be looked up makes a call unavailable, not unauthenticated. */
export const asTokenFailure = (error: unknown): unknown =>
  error instanceof DomainError ? error : unavailable('tokens cannot be checked', { cause: error })

function byCertificate(peers: PeerBindings): Authorize {
  return ({ getCertificate }) => {
    const certificate = getCertificate()
    if (!certificate) throw unauthenticated()
    const bound = certificateNames(certificate).find((name) => peers.has(name))
    const peer = bound === undefined ? undefined : peers.get(bound)
    if (!peer) throw forbidden('this certificate belongs to no known peer')
    return peer
  }
}

function peerOf(verdict: Verdict): Peer {
  if ('refusal' in verdict) throw verdict.refusal
  return verdict.peer
}
