import fc from 'fast-check'
import { type Operation, type Schema, valueOfParameter } from '../../ops/gateway/test/support/operations.js'
import type { ServiceName } from '../../ops/gateway/test/support/services.js'
import { oddJson, oddText } from './odd-values.js'

export interface FuzzRequest {
  service: ServiceName
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

/** Excluded requests: those that end the token, its user or the project, and streams that never end. */
const left =
  /^(?:delete \/projects\/\{id\}$|(?:delete|post) \/personal_access_tokens\/|put \/users|post \/users\/\{id\}\/block|delete \/session|post \/projects\/\{id\}\/(?:archive|transfer|housekeeping)|get .*\/stream$)/

/** Returns requests of an OpenAPI document, with valid and invalid values. */
export function httpRequests(
  operations: readonly Operation[],
  values: Record<string, string>,
): fc.Arbitrary<FuzzRequest> {
  const tried = operations.filter(({ method, path }) => !left.test(`${method} ${path}`))
  return fc.constantFrom(...tried).chain((operation) =>
    fc
      .record({
        path: pathOf(operation, values),
        query: queryOf(operation),
        body: bodyOf(operation),
      })
      .map(({ path, query, body: { type, text } }) => ({
        service: operation.service,
        method: operation.method.toUpperCase(),
        path: `/api/v4${path}${query}`,
        headers: contentType(type),
        body: text,
      })),
  )
}

const contentType = (type: string | undefined): Record<string, string> =>
  type === undefined ? {} : { 'Content-Type': type }

/** Returns mostly existing paths, because a path with only odd values would fail at the first one. */
const pathOf = ({ path }: Operation, values: Record<string, string>) =>
  fc
    .tuple(
      ...path.split('/').map((part) => {
        const name = /^\{(\w+)\}$/.exec(part)?.[1]
        if (!name) return fc.constant(part)
        return fc.oneof(
          { weight: 6, arbitrary: fc.constant(encodeURIComponent(valueOfParameter(path, name, values))) },
          { weight: 2, arbitrary: oddText.map(encode) },
          { weight: 1, arbitrary: fc.constantFrom('%', '%zz', '%00', '%c0%af', '%2e%2e', '..', '.', '') },
        )
      }),
    )
    .map((parts) => parts.join('/'))

const queryOf = ({ parameters }: Operation) => {
  const names = parameters.filter((parameter) => parameter.in === 'query')
  if (names.length === 0) return fc.constant('')
  const pair = fc
    .constantFrom(...names)
    .chain(({ name, schema = {} }) =>
      fc
        .tuple(
          fc.constantFrom('', '', '', '[]', '[x]'),
          fc.oneof(
            validText(schema).map(encode),
            oddText.map(encode),
            fc.constantFrom('%', '%ff', '%00', '%zz'),
          ),
        )
        .map(([suffix, value]) => `${encode(name + suffix)}=${value}`),
    )
  return fc.array(pair, { maxLength: 5 }).map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))
}

interface Body {
  type?: string
  text: string
}

function bodyOf({ requestBody }: Operation): fc.Arbitrary<Body> {
  const [type, { schema = {} } = {}] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const none: fc.Arbitrary<Body> = fc.constant({ text: '' })
  if (type !== 'application/json') return none
  const json = (value: unknown): Body => ({ type, text: JSON.stringify(value) ?? '' })
  return fc.oneof(
    { weight: 8, arbitrary: valueFor(schema).map(json) },
    { weight: 1, arbitrary: oddJson.map(json) },
    // The body breaks off in the middle.
    {
      weight: 1,
      arbitrary: valueFor(schema).map((value) => ({ type, text: json(value).text.slice(0, -3) })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...otherTypes), oddText)
        .map(([other, text]) => ({ type: other, text })),
    },
    { weight: 1, arbitrary: none },
  )
}

const otherTypes = [
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'text/plain',
  'application/octet-stream',
  'x',
]

/** Returns a value of a schema in which any part may be odd. */
function valueFor(schema: Schema): fc.Arbitrary<unknown> {
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first) return valueFor(first)
  if (schema.properties) {
    const fields = Object.entries(schema.properties).map(([name, field]) => [name, fieldOf(field)])
    const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields)
    return fc.record(model, { requiredKeys: schema.required ?? [] })
  }
  if (schema.items) return fc.array(valueFor(schema.items), { maxLength: 4 })
  return validText(schema)
}

const fieldOf = (schema: Schema) =>
  fc.oneof({ weight: 5, arbitrary: valueFor(schema) }, { weight: 1, arbitrary: oddJson })

/** Returns a valid single value of a schema, as far as its type determines it. */
function validText(schema: Schema): fc.Arbitrary<string> {
  if (schema.enum) return fc.constantFrom(...schema.enum.map(String))
  switch ([schema.type].flat()[0]) {
    case 'integer':
    case 'number':
      return fc.constantFrom('1', '2', '20', '100')
    case 'boolean':
      return fc.constantFrom('true', 'false')
    default:
      return fc.constantFrom(
        'main',
        'v1',
        'README.md',
        'text',
        '2026-01-01T00:00:00Z',
        'https://example.com/',
      )
  }
}

/** Encodes a text, which may contain unpaired surrogates that no URL can contain. */
const encode = (text: string) => encodeURIComponent(Buffer.from(text).toString())
