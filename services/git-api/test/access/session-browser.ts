import { expect } from 'vitest'
import type { Harness } from '../harness.js'

/** Headers that a browser sends with a request from a page of the same origin. */
export const own = { 'Sec-Fetch-Site': 'same-origin' }

/** Returns `name=value` of the cookie that an answer sets. */
export const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''

/** Opens a browser for the service. Its cookies are an argument of each request. */
export function openBrowser(harness: () => Harness) {
  const api = (path: string, init: RequestInit = {}, base = harness().baseUrl) =>
    fetch(`${base}/api/v4${path}`, init)
  const send = (method: string, path: string, headers: Record<string, string>, base?: string) =>
    api(path, { method, headers }, base)
  const post = (token: unknown, headers: Record<string, string> = own, base?: string) =>
    api(
      '/session',
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ token }),
      },
      base,
    )
  return {
    api,
    send,
    /** Requests a session with a token. */
    post,
    /** Begins a session. @returns the cookie, as `name=value` */
    async signIn(secret: string, base?: string): Promise<string> {
      const response = await post(secret, own, base)
      expect(response.status).toBe(201)
      return cookieOf(response)
    },
    /** Returns the status of a request that requires a user. */
    userOf: async (cookie: string) => (await send('GET', '/user', { Cookie: cookie })).status,
    storedSessions: () => harness().database.prisma.session.findMany({ orderBy: { id: 'asc' } }),
  }
}
