import { forbidden } from '@switchyard/domain'
import type { Request } from 'express'
import type { Call, Guard } from './endpoint.js'
import { documented } from './endpoint.js'

/**
 * Refuses a request that a browser does not send from a page of this origin: a page of another origin could
 * use the cookie of a signed-in user. `Sec-Fetch-Site` decides; browsers leave it out where a site has
 * neither TLS nor a loopback address, and then `Origin` decides. Another port of the same host is another
 * origin.
 *
 * @param baseUrl scheme, host and port that clients use by configuration; the host that the request asks for
 *   counts too
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

/** Scheme, host and port that the request asks for. */
export const requestedUrl = ({ protocol, host }: Pick<Request, 'protocol' | 'host'>): string =>
  `${protocol}://${host}`

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined)

/** Whether a request may change anything. */
export const mayChange = ({ method }: Pick<Request, 'method'>): boolean =>
  !['GET', 'HEAD', 'OPTIONS'].includes(method)

/** Everybody, from pages of the same origin only. */
export const fromOwnOrigin: Guard<Call['caller']> = documented(
  { anonymous: true, who: 'pages of the same origin: `Sec-Fetch-Site: same-origin`, else `Origin`' },
  ({ caller, baseUrl, raw }) => {
    requireOwnOrigin(raw.request, baseUrl)
    return caller
  },
)
