import {
  type Claims,
  identityTokenCharsMax,
  identityTokenProblem,
  matchesClaims,
} from '@switchyard/domain/access'
import type { TrustedIssuer } from '../../../generated/types.gen'

/** Header, claims and signature of a signed token. */
const tokenPattern = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/

/**
 * The claims of an identity token, or those that somebody wrote as JSON.
 *
 * @returns null for a text that is neither
 */
export function readClaims(text: string): Claims | null {
  const payload = tokenPattern.exec(text.trim())?.[2]
  return readObject(payload === undefined ? text : decoded(payload))
}

/**
 * Why the services refuse an identity token whatever the rules are, as far as that shows without the keys of
 * its issuer.
 *
 * @returns null when it does not show, and for claims that are no token
 */
export function tokenProblem(text: string, nowSeconds: number): string | null {
  const [token, header, payload, signature] = tokenPattern.exec(text.trim()) ?? []
  if (token === undefined || header === undefined || payload === undefined) return null
  if (token.length > identityTokenCharsMax)
    return `the token has more than ${identityTokenCharsMax} characters`
  const [head, claims] = [header, payload].map((part) => readObject(decoded(part)) ?? {})
  const problem = identityTokenProblem(head ?? {}, claims ?? {}, nowSeconds)
  if (problem) return `the token is not valid: ${problem.text}; ${problem.code}`
  return signature === '' ? 'the token has no signature' : null
}

function readObject(json: string | null): Claims | null {
  try {
    const value: unknown = JSON.parse(json ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : null
  } catch {
    return null
  }
}

/** @returns null for what is not base64url */
function decoded(base64url: string): string | null {
  try {
    const bytes = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
    return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)))
  } catch {
    return null
  }
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

/**
 * `repository=acme/engine`, one a line → the patterns by name. A line without `=` has an empty pattern, which
 * the API refuses.
 */
export function readPatterns(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...pattern] = line.split('=')
      return [name.trim(), pattern.join('=').trim()]
    }),
  )
}
