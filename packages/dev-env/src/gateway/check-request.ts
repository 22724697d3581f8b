import type { IncomingMessage } from 'node:http'

/** A host name or address, as RFC 3986 writes it, and a port. */
const hostPattern = /^(\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d{0,5})?$/i

/**
 * Turns a target in absolute form (`GET http://host/path`, RFC 9112 section 3.2.2) into its path, and its host into the
 * request's host. Returns 400 for a target in any other form than these two, such as `*`.
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
 * The status that refuses a request which a service might read otherwise than this gateway does, or null: not exactly
 * one well-formed Host (RFC 9112 section 3.2), or a DELETE or OPTIONS with a chunked body, which the proxy would pass on
 * without the length of its body.
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
