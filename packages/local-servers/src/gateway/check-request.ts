import type { IncomingMessage } from 'node:http'

/** A host name or address in the syntax of RFC 3986, with an optional port. */
const hostPattern = /^(\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d{0,5})?$/i

/**
 * Converts a target in absolute form (`GET http://host/path`, RFC 9112 section 3.2.2) into a path and the
 * header Host. Returns 400 for any other form, such as `*`.
 */
export function normalizeTarget(request: IncomingMessage): 400 | null {
  const { url = '/' } = request
  if (url.startsWith('/')) return null
  const [, host, path] = /^https?:\/\/([^/?#@]+)([/?].*)?$/i.exec(url) ?? []
  if (host === undefined) return 400
  request.headers.host = host
  request.url = path?.startsWith('/') ? path : `/${path ?? ''}`
  return null
}

/**
 * Returns the status for a request that a service could interpret differently from this gateway; null for any
 * other request. Refused are requests without exactly one well-formed Host (RFC 9112 section 3.2), and DELETE
 * or OPTIONS with a chunked body, which the proxy would forward without the length of the body.
 */
export function framingProblem({
  method,
  headers,
  rawHeaders,
  httpVersion,
}: IncomingMessage): 400 | 411 | null {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) return 400
  if (headers.host !== undefined && !hostPattern.test(headers.host)) return 400
  const isChunked = headers['transfer-encoding'] !== undefined
  return isChunked && (method === 'DELETE' || method === 'OPTIONS') ? 411 : null
}
