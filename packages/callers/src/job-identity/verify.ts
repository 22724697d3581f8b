import { hash } from 'node:crypto'
import {
  type Claims,
  clockToleranceSeconds,
  identityLifetimeSecondsMax,
  identityTokenCharsMax,
  publicKeyAlgorithms,
  requiredClaims,
} from '@switchyard/domain/access'
import { decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'

/** The content of a token of an issuer, after its signature and times were checked. */
export interface VerifiedToken {
  issuer: string
  audiences: readonly string[]
  claims: Claims
}

/** Most characters of all remembered tokens. */
const rememberedCharsMax = 16 * 1024 * 1024

/** Returns the issuer that a token names, which is not verified; null for a text that is not a token. */
export function namedIssuer(token: string): string | null {
  if (token.length > identityTokenCharsMax) return null
  try {
    return decodeJwt(token).iss ?? null
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/**
 * Returns the key by which an exchanged token is remembered. It is made from the signed part, because a
 * signature can be written in several forms.
 */
export function identityKey(token: string): Uint8Array<ArrayBuffer> {
  const { iss, jti } = decodeJwt(token)
  const name = jti ?? token.slice(0, token.lastIndexOf('.'))
  return new Uint8Array(hash('sha256', JSON.stringify([iss, name]), 'buffer'))
}

/**
 * Creates a function that verifies each token once, and remembers its content until it expires.
 *
 * @returns a function that throws a JOSEError for an invalid token, and DomainError unavailable while its
 * issuer is unreachable
 */
export function createVerifyToken(keysOf: (issuer: string) => JWTVerifyGetKey) {
  const verified = new LRUCache<string, VerifiedToken, { token: string; issuer: string }>({
    maxSize: rememberedCharsMax,
    // A token that the cache evicts is still answered.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { context: { token, issuer }, options }) => {
      const claims = await claimsOf(token, issuer, keysOf(issuer))
      options.size = token.length
      options.ttl = Math.max(1, endOf(claims) * 1000 - Date.now())
      const { aud } = claims
      return { issuer, audiences: typeof aud === 'string' ? [aud] : (aud ?? []), claims }
    },
  })
  return (token: string, issuer: string): Promise<VerifiedToken> =>
    verified.forceFetch(hash('sha256', token, 'base64'), { context: { token, issuer } })
}

async function claimsOf(token: string, issuer: string, getKey: JWTVerifyGetKey) {
  const { payload } = await jwtVerify(token, getKey, {
    issuer,
    algorithms: publicKeyAlgorithms,
    requiredClaims,
    maxTokenAge: identityLifetimeSecondsMax,
    clockTolerance: clockToleranceSeconds,
  })
  return payload
}

const endOf = ({ exp = 0, iat = 0 }: { exp?: number; iat?: number }): number =>
  Math.min(exp, iat + identityLifetimeSecondsMax) + clockToleranceSeconds
