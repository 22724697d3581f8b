import { hash } from 'node:crypto'
import { DomainError, forbidden, unauthenticated, unavailable } from '@switchyard/domain'
import { requireScope, requireUnboundToken } from '@switchyard/domain/access'
import type { UnaryCall } from '@switchyard/service-kit/grpc'
import { type Authenticate, tokenOf } from '@switchyard/service-kit/http'
import { LRUCache } from 'lru-cache'
import { certificateNames, type Peer, type PeerBindings } from './peer.js'

/** The part of a call that says who sends it. */
export type IdentifiedCall = Pick<UnaryCall<unknown>, 'metadata' | 'getAuthContext'>

/**
 * Says who calls, or refuses the call.
 *
 * @throws DomainError unauthenticated | insufficient-scope | forbidden | unavailable
 */
export type Authorize = (call: IdentifiedCall) => Peer | Promise<Peer>

/** How callers are known: not at all, by a token of scope `saga_report`, by the name in their certificate. */
export type SagaAuth =
  | { auth: 'none' }
  | { auth: 'token'; authenticate: Authenticate }
  | { auth: 'mtls'; peers: PeerBindings }

export function createAuthorize(options: SagaAuth): Authorize {
  if (options.auth === 'mtls') return byCertificate(options.peers)
  if (options.auth === 'token') return byToken(options.authenticate)
  return () => everybody
}

const everybody: Peer = { name: null, service: null, tenant: null }

/**
 * Verdicts live this long. Together with the half second for which tokens are remembered beneath, a
 * revoked token stops working within a second.
 */
const verdictMs = 400

type Verdict = { peer: Peer } | { refusal: DomainError }

function byToken(authenticate: Authenticate): Authorize {
  const verdicts = new LRUCache<string, Verdict>({ max: 10_000, ttl: verdictMs })
  const judge = async (secret: string, key: string): Promise<Verdict> => {
    try {
      requireUnboundToken(requireScope((await authenticate(secret)) ?? refuse(), 'saga_report'))
      return { peer: { name: `token ${key}`, service: null, tenant: null } }
    } catch (error) {
      if (error instanceof DomainError) return { refusal: error }
      // Nobody is refused because their token could not be looked up.
      throw unavailable('tokens cannot be checked', { cause: error })
    }
  }
  return ({ metadata }) => {
    const secret = tokenOf({
      'private-token': textOf(metadata.get('private-token')),
      authorization: textOf(metadata.get('authorization')),
    })
    if (secret === null) throw unauthenticated()
    const key = hash('sha256', secret, 'base64')
    const known = verdicts.get(key)
    if (known) return peerOf(known)
    return judge(secret, key).then((verdict) => {
      verdicts.set(key, verdict)
      return peerOf(verdict)
    })
  }
}

function byCertificate(peers: PeerBindings): Authorize {
  // The kit gives every call of a connection the same context, so a certificate is read once.
  const known = new WeakMap<object, Peer>()
  return (call) => {
    const { sslPeerCertificate: certificate } = call.getAuthContext()
    if (!certificate) throw unauthenticated()
    const peer = known.get(certificate) ?? boundPeer(peers, certificateNames(certificate))
    known.set(certificate, peer)
    return peer
  }
}

function boundPeer(peers: PeerBindings, names: string[]): Peer {
  const bound = names.find((name) => peers.has(name))
  const peer = bound === undefined ? undefined : peers.get(bound)
  if (!peer) throw forbidden('this certificate belongs to no known peer')
  return peer
}

function peerOf(verdict: Verdict): Peer {
  if ('refusal' in verdict) throw verdict.refusal
  return verdict.peer
}

const refuse = (): never => {
  throw unauthenticated()
}

const textOf = ([value]: (string | Buffer)[]) => (value === undefined ? undefined : String(value))
