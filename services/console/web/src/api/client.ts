import { problemsText } from '../lib/problems-text'
import { noteServerTime } from '../lib/server-clock'
import { noteUnauthorized } from './session-end'

/** A refusal or failure of the API, with its sentence and its whole body. `status` is 0 without an answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly body: Record<string, unknown> = {},
  ) {
    super(message)
  }
}

export type Query = Record<string, string | number | boolean | undefined | null>

export interface Page<Row> {
  rows: Row[]
  /** Unset when the API does not count that many. */
  total: number | undefined
  nextPage: number | undefined
  nextCursor: string | undefined
  /** Token of the next page, for lists that have one. */
  nextToken: string | undefined
  headers: Headers
}

const base = '/api/v4'

export const addressOf = (path: string, query?: Query): string => base + withQuery(path, query)

/** Returns a path with parameters, to which more may be added. */
export function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  const text = search.toString()
  return text ? `${path}${path.includes('?') ? '&' : '?'}${text}` : path
}

/** Encodes a text, which may contain slashes, as one path segment: `a/b` ⇒ `a%2Fb`. */
export const segment = encodeURIComponent

interface Call {
  query?: Query | undefined
  body?: unknown
  signal?: AbortSignal | undefined
  /** The ETag of the version to change. */
  ifMatch?: string | undefined
}

async function call(method: string, path: string, { query, body, signal, ifMatch }: Call) {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (ifMatch !== undefined) headers['If-Match'] = ifMatch
  const init: RequestInit = { method, signal: signal ?? null, headers }
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  const sentMs = Date.now()
  let response: Response
  try {
    response = await fetch(addressOf(path, query), init)
  } catch (error) {
    if (signal?.aborted) throw error
    throw noAnswer()
  }
  // Only an answer that no cache may serve without revalidation tells the current time.
  if (/must-revalidate|no-store/.test(response.headers.get('Cache-Control') ?? ''))
    noteServerTime(response.headers.get('Date'), { sentMs, receivedMs: Date.now() })
  if (response.status === 401 && path !== '/session') noteUnauthorized()
  if (!response.ok) throw refusalOf(response.status, await response.text())
  return response
}

export const noAnswer = () =>
  new ApiError(0, 'The server does not answer. Check the connection and try again.')

/** Returns the error of a refusal, with its sentence. */
export function refusalOf(status: number, text: string): ApiError {
  try {
    const body = JSON.parse(text) as Record<string, unknown>
    const problems = problemsText(body.message ?? body.error)
    if (problems) return new ApiError(status, isBareStatus(problems) ? unavailableNow : problems, body)
  } catch {
    // The text is not JSON, because a proxy has answered.
  }
  return new ApiError(status, `The server answered ${status}.`)
}

/** Sentence for a part of Switchyard that failed or does not answer; the log has the reason for operators. */
const unavailableNow = 'Switchyard cannot answer this now. Try again in a moment.'
const isBareStatus = (text: string) => /^5\d\d [A-Za-z ]+$/.test(text)

export async function get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  return (await call('GET', path, { query, signal })).json() as Promise<Answer>
}

export async function getBytes(path: string, query?: Query, signal?: AbortSignal): Promise<Uint8Array> {
  return new Uint8Array(await (await call('GET', path, { query, signal })).arrayBuffer())
}

/** Reads one page of a list, with the data about other pages from its headers. */
export async function getPage<Row>(path: string, query?: Query, signal?: AbortSignal): Promise<Page<Row>> {
  const response = await call('GET', path, { query, signal })
  const { headers } = response
  return {
    rows: (await response.json()) as Row[],
    total: numberOf(headers.get('X-Total')),
    nextPage: numberOf(headers.get('X-Next-Page')),
    nextCursor: headers.get('X-Next-Cursor') ?? undefined,
    nextToken: tokenOfNext(headers.get('Link')),
    headers,
  }
}

const numberOf = (text: string | null) => (text ? Number(text) : undefined)

/** Reads the token of the next page: `<…?page_token=7>; rel="next"` ⇒ 7. */
function tokenOfNext(link: string | null): string | undefined {
  const [, address] = /<([^<>]*)>; rel="next"/.exec(link ?? '') ?? []
  return address === undefined ? undefined : (new URL(address).searchParams.get('page_token') ?? undefined)
}

/** A resource, and the ETag of its version, which a change must send. */
export interface Versioned<Resource> {
  resource: Resource
  etag: string
}

export async function getVersioned<Resource>(
  path: string,
  signal?: AbortSignal,
): Promise<Versioned<Resource>> {
  const response = await call('GET', path, { signal })
  return { resource: (await response.json()) as Resource, etag: response.headers.get('ETag') ?? '*' }
}

/**
 * Changes a version of a resource.
 *
 * @returns the ETag of the new version
 * @throws ApiError 412 when the version is no longer the newest
 */
export async function changeVersion(path: string, body: object, etag: string): Promise<string> {
  const response = await call('PUT', path, { body, ifMatch: etag })
  return response.headers.get('ETag') ?? '*'
}

/** Sends a change. Returns undefined for an answer without a body. */
export async function send<Answer = undefined>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  query?: Query,
): Promise<Answer> {
  const text = await (await call(method, path, { query, body })).text()
  return (text ? JSON.parse(text) : undefined) as Answer
}
