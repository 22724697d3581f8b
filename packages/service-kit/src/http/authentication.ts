import { hash } from 'node:crypto'
import { isRefusal, unauthenticated } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { RequestHandler } from 'express'
import { LRUCache } from 'lru-cache'

/**
 * A function that finds the holder of a token; null when the token is unknown, expired or revoked, or its
 * user is blocked.
 */
export type FindCaller = (tokenHash: Uint8Array<ArrayBuffer>) => Promise<Caller | null>

/**
 * A function that finds the CI job of an identity token; null when the job may not act there.
 *
 * @param project the project that the request names, by id or full path; undefined: none
 */
export type FindJob = (token: string, project: string | undefined) => Promise<Caller | null>

/**
 * A function that finds the holder of a secret; null when the secret is not a valid token.
 *
 * @param project as for {@link FindJob}
 */
export type Authenticate = (secret: string, address?: string, project?: string) => Promise<Caller | null>

/**
 * A function that finds the holder of a secret that came from an address; null when there is none.
 *
 * @param signal returns a signal that is aborted when the client goes away, so that nothing waits for it
 * @throws DomainError rate-limited when there is none and the address has sent too many unknown tokens;
 * unavailable when such an address sends more tokens than can be looked up in time
 */
export type AuthenticateFrom = (
  secret: string,
  address: string,
  project?: string,
  signal?: () => AbortSignal,
) => Promise<Caller | null>

export interface Authenticator {
  authenticate: Authenticate
  /**
   * Forgets these users. It has to be called after this process has committed a change of the users or of
   * their tokens: this process then asks the database again, and ignores look-ups that began before. Other
   * processes notice the change within half a second.
   */
  forgetUsers(userIds: readonly number[]): void
}

/**
 * Time for which an answer of the database is remembered. A revoked token stops working everywhere within
 * this time.
 */
const rememberedMs = 500
const rememberedMax = 10_000

/** Returns the SHA-256 of a secret, by which tokens are stored and looked up. */
export const hashToken = (secret: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hash('sha256', secret, 'buffer'))

/** Returns the hash of a token as text, the key of the cache. */
export const tokenKey = (secret: string): string => hash('sha256', secret, 'base64')

/**
 * Returns whether a secret has the form of a signed identity token, a JWT. Tokens of Switchyard never have
 * it.
 */
const isIdentityToken = (secret: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(secret)

interface LookUp {
  caller: Caller | null
  /** The number of changes that this process knew of when the look-up began. */
  changesBefore: number
}

/**
 * Creates an authenticator that remembers each answer for half a second, so that a busy client costs two
 * queries a second. Simultaneous look-ups of the same token share a query; a failed query is not remembered.
 *
 * @param findJob unset: no identity tokens are accepted
 */
export function createAuthenticator(findCaller: FindCaller, findJob?: FindJob): Authenticator {
  let changes = 0
  /** Number of the last change, by user id. */
  const changed = new LRUCache<number, number>({ max: rememberedMax })
  const known = new LRUCache<string, LookUp, () => Promise<Caller | null>>({
    max: rememberedMax,
    ttl: rememberedMs,
    // A look-up that the cache evicts is still answered.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { context }) => {
      const changesBefore = changes
      return { caller: await context(), changesBefore }
    },
  })
  const isOutdated = ({ caller, changesBefore }: LookUp) =>
    caller !== null && (changed.get(caller.user.id) ?? 0) > changesBefore

  return {
    async authenticate(secret, _address, project) {
      const isJob = findJob !== undefined && isIdentityToken(secret)
      const key = isJob ? `${tokenKey(secret)} ${project}` : tokenKey(secret)
      const context = () => (isJob ? findJob(secret, project) : findCaller(hashToken(secret)))
      let found = known.get(key)
      while (found === undefined || isOutdated(found)) {
        // A look-up may join a query that began before the change; the look-up after it starts a new query.
        const forceRefresh = found !== undefined
        found = await known.fetch(key, { context, forceRefresh })
      }
      return found.caller
    },
    forgetUsers(userIds) {
      changes += 1
      for (const id of userIds) changed.set(id, changes)
    },
  }
}

/**
 * Returns the token of a request: `PRIVATE-TOKEN`, or `Authorization: Bearer`. A token in the query string is
 * never accepted, because query strings end up in logs.
 */
export function tokenOf(headers: { [name: string]: string | string[] | undefined }): string | null {
  const privateToken = headers['private-token']
  if (typeof privateToken === 'string' && privateToken !== '') return privateToken
  const bearer = /^bearer +(\S+)\s*$/i.exec(String(headers.authorization ?? ''))
  return bearer?.[1] ?? null
}

/**
 * Returns the holder of the token of a request; null for a request without a token.
 *
 * @throws DomainError unauthenticated when the token does not work
 */
export async function callerOf(token: string | null, authenticate: Authenticate): Promise<Caller | null> {
  if (token === null) return null
  const caller = await authenticate(token)
  if (!caller) throw unauthenticated()
  return caller
}

/**
 * Returns the token of a request, which may also be the password of basic authentication. The user name is
 * ignored.
 */
export function tokenOrPasswordOf(headers: { [name: string]: string | string[] | undefined }): string | null {
  const token = tokenOf(headers)
  const encoded = /^basic +([\w+/=-]+)\s*$/i.exec(String(headers.authorization ?? ''))?.[1]
  if (token !== null || encoded === undefined) return token
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 || colon === decoded.length - 1 ? null : decoded.slice(colon + 1)
}

/**
 * Wraps a handler so that each 401 asks for a name and a password. Without that header, git does not ask its
 * user.
 */
export const askingForPassword =
  (handler: RequestHandler): RequestHandler =>
  async (request, response, next) => {
    try {
      await handler(request, response, next)
    } catch (error) {
      const isUnauthenticated = isRefusal(error, 'unauthenticated')
      if (isUnauthenticated && !response.headersSent)
        response.set('WWW-Authenticate', 'Basic realm="Switchyard", charset="UTF-8"')
      throw error
    }
  }
