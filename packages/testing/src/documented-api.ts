import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js'

/** The used part of an operation in an OpenAPI document. */
interface Operation {
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema?: { $ref: string } }> }
  responses: Record<string, Answer | { $ref: string }>
}

interface Answer {
  content?: Record<string, { schema?: AnySchema }>
  headers?: Record<string, Header | { $ref: string }>
}

interface Header {
  required?: boolean
}

interface Document {
  servers: [{ url: string }]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

export interface DocumentedCall {
  /** Values of the path parameters, not encoded. */
  path?: Record<string, string | number>
  query?: Record<string, string>
  /** Sent as JSON. */
  body?: Record<string, unknown>
  /** Sent as it is. */
  content?: string | FormData
  /** Token of the call. Unset: the token of the client; null: no token. */
  token?: string | null
  headers?: Record<string, string>
}

export interface DocumentedAnswer {
  status: number
  headers: Headers
  /**
   * The parsed JSON, or the text of another media type. Undefined for an event stream, which is closed at
   * once.
   */
  body: unknown
}

const formats = {
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}(Z|[+-]\d{2}:\d{2})$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  uri: /^https?:\/\/\S+$/,
  uuid: true,
} as const

/**
 * Opens a client that calls operations of a service's OpenAPI document. It throws when the status, media
 * type, headers or body of an answer differ from the document.
 *
 * @param baseUrl base URL of the service
 * @param token default token
 */
export async function openDocumentedApi(baseUrl: string, token: string) {
  const document = (await (await fetch(`${baseUrl}/-/openapi.json`)).json()) as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats })
  ajv.addSchema(document, 'openapi')
  const succeeded = new Set<string>()

  return {
    /**
     * Calls an operation.
     *
     * @param name method and path as documented, e.g. `GET /users/{id}`
     */
    async call(name: string, given: DocumentedCall = {}): Promise<DocumentedAnswer> {
      const [method = '', path = ''] = name.split(' ')
      const operation = document.paths[path]?.[method.toLowerCase()]
      if (!operation) throw new Error(`${name} is not documented`)
      refuseUndocumentedFields(document, name, operation, given)
      const response = await send(baseUrl + document.servers[0].url, method, path, { token, ...given })
      const answer = await readAnswer(response)
      const problem = problemWith(ajv, document, operation, answer)
      if (problem) throw new Error(`${name} ${answer.status}: ${problem}\n${JSON.stringify(answer.body)}`)
      if (response.status < 400) succeeded.add(name)
      return answer
    },
    /** Lists operations without a successful call. */
    uncalled: (): string[] =>
      Object.entries(document.paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
        .filter((name) => !succeeded.has(name)),
  }
}

function refuseUndocumentedFields(
  { components }: Document,
  name: string,
  { parameters = [], requestBody }: Operation,
  { query = {}, body = {} }: DocumentedCall,
): void {
  const inQuery = parameters.map((parameter) => parameter.name)
  const reference = requestBody?.content['application/json']?.schema?.$ref.split('/').at(-1) ?? ''
  const shape = components.schemas?.[reference] as { properties: object } | undefined
  const unknown = [
    ...Object.keys(query).filter((field) => !inQuery.includes(field)),
    ...Object.keys(body).filter((field) => !Object.keys(shape?.properties ?? {}).includes(field)),
  ]
  if (unknown.length > 0) throw new Error(`${name} has no documented ${unknown.join(', ')}`)
}

function send(base: string, method: string, path: string, call: DocumentedCall): Promise<Response> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(call.path?.[name] ?? `no ${name} given`),
  )
  const query = call.query ? `?${new URLSearchParams(call.query)}` : ''
  const headers = {
    ...(call.token && { 'PRIVATE-TOKEN': call.token }),
    ...(call.body && { 'Content-Type': 'application/json' }),
    ...call.headers,
  }
  const body = call.content ?? (call.body && JSON.stringify(call.body))
  return fetch(base + filled + query, { method, headers, body, redirect: 'manual' })
}

async function readAnswer(response: Response): Promise<DocumentedAnswer> {
  const { status, headers } = response
  const type = mediaTypeOf(headers)
  if (type === 'text/event-stream') {
    await response.body?.cancel()
    return { status, headers, body: undefined }
  }
  const text = await response.text()
  return { status, headers, body: type === 'application/json' ? JSON.parse(text) : text }
}

/**
 * Returns the media type without parameters. JSON must have no parameters, because clients such as
 * python-gitlab compare the header.
 */
function mediaTypeOf(headers: Headers): string {
  const type = headers.get('Content-Type') ?? ''
  return type.startsWith('application/json') ? type : (type.split(';', 1)[0] ?? '')
}

function problemWith(
  ajv: Ajv2020,
  { components }: Document,
  operation: Operation,
  { status, headers, body }: DocumentedAnswer,
): string | null {
  const documented = operation.responses[status]
  if (!documented) return 'the status is not documented'
  const answer = resolved(components.responses, documented)
  const missing = Object.entries(answer.headers ?? {}).filter(
    ([name, header]) => resolved(components.headers, header).required && !headers.has(name),
  )
  if (missing.length > 0) return `headers are missing: ${missing.map(([name]) => name).join(', ')}`
  const type = mediaTypeOf(headers)
  if (!answer.content) return body === '' ? null : `a body of ${type} where none is documented`
  const media = answer.content[type]
  if (!media) return `the media type ${type} is not documented`
  if (!media.schema || validate(ajv, media.schema, body)) return null
  return ajv.errorsText(ajv.errors)
}

/** Resolves a reference of the document. */
const resolved = <Part extends object>(parts: Record<string, unknown> = {}, part: Part | { $ref: string }) =>
  '$ref' in part ? (parts[part.$ref.split('/').at(-1) ?? ''] as Part) : part

/** Validates a body. References of the schema point to the document, which is registered as `openapi`. */
function validate(ajv: Ajv2020, schema: AnySchema, body: unknown): boolean {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/')
  return ajv.validate(JSON.parse(text), body)
}
