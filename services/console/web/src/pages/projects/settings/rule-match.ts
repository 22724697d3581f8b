import { type Claims, matchesClaims } from '@switchyard/domain/access'
import type { TrustedIssuer } from '../../../generated/types.gen'

/**
 * The claims of an identity token, or those that somebody wrote as JSON. The signature is not checked.
 *
 * @returns null for a text that is neither
 */
export function readClaims(text: string): Claims | null {
  const payload = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(text.trim())?.[1]
  try {
    const claims: unknown = JSON.parse(payload === undefined ? text : decoded(payload))
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? (claims as Claims) : null
  } catch {
    return null
  }
}

function decoded(base64url: string): string {
  const bytes = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)))
}

/** Why a rule does not let a job with these claims act; empty when it does. */
export function mismatches(
  { active, issuer, audience, claims: patterns }: TrustedIssuer,
  claims: Claims,
): string[] {
  const audiences = [claims.aud].flat()
  const differing = Object.entries(patterns).filter(
    ([name, pattern]) => !matchesClaims({ [name]: pattern }, claims),
  )
  return [
    ...(active ? [] : ['the rule has ended']),
    ...(claims.iss === issuer ? [] : [`iss is ${shown(claims.iss)}, not ${issuer}`]),
    ...(audiences.includes(audience) ? [] : [`aud is ${shown(claims.aud)}, not ${audience}`]),
    ...differing.map(([name, pattern]) => `${name} is ${shown(ownClaim(claims, name))}, not ${pattern}`),
  ]
}

const ownClaim = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

const shownCharsMax = 200

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, shownCharsMax)
}

/** `repository=acme/engine`, one a line → the patterns by name. A line without `=` has an empty pattern, which the API refuses. */
export function readPatterns(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...pattern] = line.split('=')
      return [name.trim(), pattern.join('=').trim()]
    }),
  )
}
