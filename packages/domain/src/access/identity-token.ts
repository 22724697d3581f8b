import type { Claims } from './job-identity.js'

/** Longest identity token that is read. Tokens of forges have 1 to 2 KB. */
export const identityTokenCharsMax = 8192
/** Longest lifetime of an identity token, also when its issuer allows a longer one. */
export const identityLifetimeSecondsMax = 3600
/** Difference that is tolerated between the clocks of the issuer and of this machine. */
export const clockToleranceSeconds = 60
/**
 * Algorithms of signatures with a public key. `none` and shared secrets are missing, because an attacker
 * could sign with the public key as the shared secret.
 */
export const publicKeyAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]
export const requiredClaims = ['sub', 'aud', 'exp', 'iat']

export interface IdentityTokenProblem {
  /** The code by which `jose` and the logs name the problem. */
  code: string
  text: string
}

/**
 * Returns why an identity token is not valid, as far as it can be said without the keys of its issuer. Null:
 * no problem was found.
 */
export function identityTokenProblem(
  { alg }: Claims,
  claims: Claims,
  nowSeconds: number,
): IdentityTokenProblem | null {
  if (typeof alg !== 'string' || !publicKeyAlgorithms.includes(alg))
    return problem('ERR_JOSE_ALG_NOT_ALLOWED', 'its algorithm (alg) is none with a public key')
  const missing = ['iss', ...requiredClaims].find((name) => !Object.hasOwn(claims, name))
  if (missing !== undefined) return invalid(`${missing} is missing`)
  const { iat, exp, nbf = 0 } = claims
  if (typeof iat !== 'number' || typeof exp !== 'number' || typeof nbf !== 'number')
    return invalid('iat, exp and nbf have to be numbers')
  if (Math.max(nbf, iat) > nowSeconds + clockToleranceSeconds)
    return invalid('it is not valid yet (nbf, iat)')
  if (exp <= nowSeconds - clockToleranceSeconds) return problem('ERR_JWT_EXPIRED', 'it has expired (exp)')
  if (nowSeconds - iat - clockToleranceSeconds > identityLifetimeSecondsMax)
    return problem('ERR_JWT_EXPIRED', 'it was made more than an hour ago (iat)')
  return null
}

const problem = (code: string, text: string): IdentityTokenProblem => ({ code, text })

const invalid = (text: string) => problem('ERR_JWT_CLAIM_VALIDATION_FAILED', text)
