import { hash } from 'node:crypto'
import { unauthenticated } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { LRUCache } from 'lru-cache'

/** Finds who a token belongs to; null when it is unknown, expired or revoked, or its user is blocked. */
export type FindCaller = (tokenHash: Uint8Array<ArrayBuffer>) => Promise<Caller | null>

/** Who holds a secret, null when nobody does. */
export type Authenticate = (secret: string) => Promise<Caller | null>

/** A revoked token stops working everywhere within this time. */
const cachedMs = 500

/** Tokens are stored as SHA-256 of their secret and looked up by it. */
export const hashToken = (secret: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hash('sha256', secret, 'buffer'))

/** What stands for a token in memory: its hash as text. */
export const tokenKey = (secret: string): string => hash('sha256', secret, 'base64')

/**
 * Looks tokens up and remembers the answer for half a second, so that a busy client costs two queries
 * a second. Simultaneous look-ups of one token share a query; a failed one is not remembered.
 */
export function createAuthenticate(findCaller: FindCaller): Authenticate {
  const cache = new LRUCache<string, { caller: Caller | null }, Uint8Array<ArrayBuffer>>({
    max: 10_000,
    ttl: cachedMs,
    fetchMethod: async (_key, _stale, { context }) => ({ caller: await findCaller(context) }),
  })
  return async (secret) => {
    const key = tokenKey(secret)
    const found = cache.get(key) ?? (await cache.fetch(key, { context: hashToken(secret) }))
    return found?.caller ?? null
  }
}

/**
 * The token a request carries: `PRIVATE-TOKEN`, or `Authorization: Bearer`. Never one from the query
 * string, where it would end up in logs.
 */
export function tokenOf(headers: { [name: string]: string | string[] | undefined }): string | null {
  const privateToken = headers['private-token']
  if (typeof privateToken === 'string' && privateToken !== '') return privateToken
  const bearer = /^bearer +(\S+)\s*$/i.exec(String(headers.authorization ?? ''))
  return bearer?.[1] ?? null
}

/**
 * Who sends a request; null for one without a token.
 *
 * @throws DomainError unauthenticated when a token is there but not good
 */
export async function callerOf(
  headers: { [name: string]: string | string[] | undefined },
  authenticate: Authenticate,
): Promise<Caller | null> {
  const token = tokenOf(headers)
  if (token === null) return null
  const caller = await authenticate(token)
  if (!caller) throw unauthenticated()
  return caller
}
