/** A refusal or failure of the API, with its sentence and its whole body. `status` is 0 when no answer came. */
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
  /** Unset when the API does not count that far. */
  total: number | undefined
  nextPage: number | undefined
  nextCursor: string | undefined
  headers: Headers
}

const base = '/api/v4'

export function addressOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  const text = search.toString()
  return base + path + (text ? `?${text}` : '')
}

/** Encodes a text, which may contain slashes, as one path segment: `a/b` ⇒ `a%2Fb`. */
export const segment = encodeURIComponent

async function call(method: string, path: string, query?: Query, body?: unknown, signal?: AbortSignal) {
  const init: RequestInit = { method, signal: signal ?? null, headers: { Accept: 'application/json' } }
  if (body !== undefined) {
    init.headers = { ...init.headers, 'Content-Type': 'application/json' }
    init.body = JSON.stringify(body)
  }
  let response: Response
  try {
    response = await fetch(addressOf(path, query), init)
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'The server does not answer. Check the connection and try again.')
  }
  if (!response.ok) throw await refusalOf(response)
  return response
}

/** The sentence of a refusal: `message` and `error` are a text, a list, or problems by field. */
async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response
  const text = await response.text()
  try {
    const body = JSON.parse(text) as Record<string, unknown>
    const told = flatten(body.message ?? body.error)
    if (told) return new ApiError(status, told, body)
  } catch {
    // Not JSON: a proxy on the way answered.
  }
  return new ApiError(status, `The server answered ${status}.`)
}

function flatten(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(flatten).join('; ')
  if (value && typeof value === 'object')
    return Object.entries(value)
      .map(([field, problem]) => `${field}: ${flatten(problem)}`)
      .join('; ')
  return ''
}

export async function get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
  return (await call('GET', path, query, undefined, signal)).json() as Promise<Answer>
}

export async function getBytes(path: string, query?: Query, signal?: AbortSignal): Promise<Uint8Array> {
  return new Uint8Array(await (await call('GET', path, query, undefined, signal)).arrayBuffer())
}

/** One page of a list, with the facts about the other pages in its headers. */
export async function getPage<Row>(path: string, query?: Query, signal?: AbortSignal): Promise<Page<Row>> {
  const response = await call('GET', path, query, undefined, signal)
  const { headers } = response
  return {
    rows: (await response.json()) as Row[],
    total: numberOf(headers.get('X-Total')),
    nextPage: numberOf(headers.get('X-Next-Page')),
    nextCursor: headers.get('X-Next-Cursor') ?? undefined,
    headers,
  }
}

const numberOf = (text: string | null) => (text ? Number(text) : undefined)

/** Sends a change. Answers without a body give undefined. */
export async function send<Answer = undefined>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  query?: Query,
): Promise<Answer> {
  const text = await (await call(method, path, query, body)).text()
  return (text ? JSON.parse(text) : undefined) as Answer
}
