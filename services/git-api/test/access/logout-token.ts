import { randomUUID } from 'node:crypto'
import { type IdentityProvider, identityClient } from '@switchyard/testing'
import { type JWTPayload, SignJWT } from 'jose'

export const logoutEvents = { 'http://schemas.openid.net/event/backchannel-logout': {} }

/**
 * Signs a logout token as the provider does. Given claims replace the usual ones; undefined removes a claim.
 */
export function signLogout(provider: IdentityProvider, claims: JWTPayload, header = {}): Promise<string> {
  const [own] = provider.keys
  if (!own) throw new Error('the provider has no key')
  const seconds = Math.floor(Date.now() / 1000)
  const payload = {
    iss: provider.issuer,
    aud: identityClient.id,
    iat: seconds,
    exp: seconds + 120,
    jti: randomUUID(),
    events: logoutEvents,
    ...claims,
  }
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'RS256', kid: own.kid, typ: 'logout+jwt', ...header })
    .sign(own.key)
}
