import type { HpackField } from './hpack-field.js'

/** The header fields of a request by name, pseudo-header fields among them. It has no prototype. */
export type RequestHeaders = Record<string, string | undefined>

const pseudoNames = [':method', ':scheme', ':path', ':authority']

/** They are of HTTP/1 and mean nothing here, or a trick: RFC 9113, section 8.2.2. */
const connectionNames = ['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']

/** Gathers the fields of a request; null when it is malformed: RFC 9113, sections 8.2 and 8.3. */
export function readRequestHeaders(fields: readonly HpackField[]): RequestHeaders | null {
  const headers: RequestHeaders = Object.create(null)
  let arePseudo = true
  for (const { name, value, isValid } of fields) {
    const isPseudo = name.charCodeAt(0) === colon
    arePseudo &&= isPseudo
    const isAllowed = isPseudo ? arePseudo && isNewPseudo(name, headers) : isOfHttp2(name, value)
    if (!isValid || !isAllowed) return null
    const before = headers[name]
    headers[name] = before === undefined ? value : before + (name === 'cookie' ? '; ' : ', ') + value
  }
  return isWhole(headers) ? headers : null
}

const colon = 0x3a

const isNewPseudo = (name: string, headers: RequestHeaders): boolean =>
  pseudoNames.includes(name) && headers[name] === undefined

const isOfHttp2 = (name: string, value: string): boolean =>
  name === 'te' ? value === 'trailers' : !connectionNames.includes(name)

const isWhole = ({ ':method': method, ':scheme': scheme, ':path': path }: RequestHeaders): boolean =>
  Boolean(method) && scheme !== undefined && (path?.startsWith('/') === true || isOfServer(method, path))

const isOfServer = (method?: string, path?: string): boolean => method === 'OPTIONS' && path === '*'
