import {
  type Claims,
  identityTokenCharsMax,
  identityTokenProblem,
  matchesClaims,
} from '@switchyard/domain/access'
import type { TrustedIssuer } from '../../../generated/types.gen'

/** Matches header, claims and signature of a signed token. */
const tokenPattern = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/

/**
 * Returns the claims of an identity token, or of a JSON text.
 *
 * @returns null for any other text
 */
export function readClaims(text: string): Claims | null {
  const payload = tokenPattern.exec(text.trim())?.[2]
  return readObject(payload === undefined ? text : decoded(payload))
}

/**
 * Returns why the services refuse an identity token under any rules, as far as that is visible without the
 * keys of its issuer.
 *
 * @returns null when no problem is visible, and for claims without a token
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

/** @returns null for a text that is not base64url */
function decoded(base64url: string): string | null {
  try {
    const bytes = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
    return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)))
  } catch {
    return null
  }
}

/** Returns why a rule does not admit a job with these claims; empty when it does. */
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
 * Reads `repository=acme/engine`, one per line, as patterns by name. A line without `=` has an empty pattern,
 * which the API refuses.
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
