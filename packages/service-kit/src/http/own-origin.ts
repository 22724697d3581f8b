import { forbidden } from '@switchyard/domain'
import type { Request } from 'express'
import type { Call, Guard } from './endpoint.js'
import { documented } from './endpoint.js'

/**
 * Refuses a request that a browser does not send from a page of this origin, because a page of another origin
 * could use the cookie of a signed-in user. `Sec-Fetch-Site` decides. Browsers leave it out for a site that
 * has neither TLS nor a loopback address; `Origin` decides then. Another port of the same host is another
 * origin.
 *
 * @param baseUrl the configured scheme, host and port of clients; the host that the request names is
 * accepted, too
 * @throws DomainError forbidden
 */
export function requireOwnOrigin(request: Request, baseUrl: string): void {
  if (!isOwn(request, baseUrl)) throw forbidden('This request must come from a page of the same origin')
}

function isOwn(request: Request, baseUrl: string): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = request.headers
  return origin !== undefined && [baseUrl, requestedUrl(request)].some((url) => originOf(url) === origin)
}

/** Returns the scheme, host and port that the request names. */
export const requestedUrl = ({ protocol, host }: Pick<Request, 'protocol' | 'host'>): string =>
  `${protocol}://${host}`

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined)

/** Returns whether a request may change anything. */
export const mayChange = ({ method }: Pick<Request, 'method'>): boolean =>
  !['GET', 'HEAD', 'OPTIONS'].includes(method)

/** Admits everybody, but only from pages of the same origin. */
export const fromOwnOrigin: Guard<Call['caller']> = documented(
  { anonymous: true, who: 'pages of the same origin: `Sec-Fetch-Site: same-origin`, else `Origin`' },
  ({ caller, baseUrl, raw }) => {
    requireOwnOrigin(raw.request, baseUrl)
    return caller
  },
)
