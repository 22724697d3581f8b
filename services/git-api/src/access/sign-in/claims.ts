import { beginningOf, trimCharacters } from '@switchyard/domain'
import type { SignInProvider } from '../../sign-in-config.js'

/** The person who signs in, as the provider describes them, with bounded texts. */
export interface Person {
  /** A candidate for the username; empty when the claim has no letter or digit. */
  username: string
  name: string
  /** Null: the provider has sent no address, or has not verified it. */
  email: string | null
  groups: ReadonlySet<string>
}

const groupsMax = 10_000
const charsMax = 255

/**
 * Reads the claims that the settings name. The claims are untrusted: control characters and characters that
 * reorder text are removed, long texts are shortened, and groups after the first 10,000 are ignored.
 */
export function readPerson(claims: Record<string, unknown>, provider: SignInProvider): Person {
  const email = textClaim(claims[provider.email_claim])
  const isVerified = claims.email_verified === true || claims.email_verified === 'true'
  const username = usernameOf(textClaim(claims[provider.username_claim]))
  return {
    username,
    name: readable(textClaim(claims[provider.name_claim])) || username,
    email: isVerified && email !== '' ? email : null,
    groups: groupsOf(provider.groups_claim && valueAt(claims, provider.groups_claim)),
  }
}

const textClaim = (value: unknown) => (typeof value === 'string' ? value.slice(0, 4 * charsMax).trim() : '')

/**
 * Makes a username of a claim: `Ada.Lovelace@example.com` becomes `Ada.Lovelace`, and invalid characters
 * become hyphens.
 */
const usernameOf = (claim: string): string =>
  trimCharacters(
    (claim.split('@', 1)[0] ?? '')
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/[^\w.-]+/g, '-')
      .slice(0, charsMax),
    (character) => character === '-' || character === '.',
  )

const readable = (text: string): string =>
  beginningOf(text.replace(/[\p{Cc}\p{Cs}\u2028\u2029\p{Bidi_Control}]+/gu, ' ').trim(), charsMax)

const valueAt = (claims: Record<string, unknown>, path: string): unknown =>
  path in claims
    ? claims[path]
    : path
        .split('.')
        .reduce<unknown>(
          (value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined),
          claims,
        )

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function groupsOf(value: unknown): Set<string> {
  const list = Array.isArray(value) ? value.slice(0, groupsMax) : [value]
  return new Set(list.filter((group) => typeof group === 'string'))
}
