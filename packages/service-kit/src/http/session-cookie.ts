import type { Request, Response } from 'express'
import type { Call } from './endpoint.js'

const name = 'switchyard_session'
/**
 * Name with a prefix that browsers accept only from https pages of the same host, so that no other host can
 * set the cookie.
 */
const secureName = `__Host-${name}`

/** A secret of 256 random bits in base64url. */
const secretShape = /^[\w-]{43}$/

/**
 * Returns the secret of the session in the cookies of a request; null without one. A cookie without `__Host-`
 * counts on http only.
 *
 * @param baseUrl scheme, host and port that clients use
 */
export function sessionSecretOf({ headers }: Pick<Request, 'headers'>, baseUrl: string): string | null {
  for (const accepted of isSecure(baseUrl) ? [secureName] : [secureName, name]) {
    const found = cookieOf(headers, accepted)
    if (found !== undefined && secretShape.test(found)) return found
  }
  return null
}

/** Sets the cookie of a new session. No script can read it, and no page of another site sends it. */
export function setSessionCookie({ raw, baseUrl }: SessionCall, secret: string, expiresAt: Date): void {
  raw.response.cookie(nameFor(baseUrl), secret, { ...optionsFor(baseUrl), expires: expiresAt })
}

/** Deletes the cookie of a session. */
export function clearSessionCookie({ raw, baseUrl }: SessionCall): void {
  raw.response.clearCookie(nameFor(baseUrl), optionsFor(baseUrl))
}

type SessionCall = Pick<Call, 'baseUrl'> & { raw: { response: Pick<Response, 'cookie' | 'clearCookie'> } }

const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')
const nameFor = (baseUrl: string) => (isSecure(baseUrl) ? secureName : name)
const optionsFor = (baseUrl: string) =>
  ({ httpOnly: true, sameSite: 'strict', path: '/', secure: isSecure(baseUrl) }) as const

/** Returns the value of a cookie of a request; undefined without it. */
export function cookieOf(headers: { cookie?: string | undefined }, name: string): string | undefined {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim())
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1)
}
