import { z } from 'zod'
import { namesInPath } from '../declared-parameters.js'
import type { Documentation, Route } from '../endpoint.js'
import { textCharsMax } from '../parameters.js'
import { pageHeaderReferences, preconditionReferences } from './headers.js'
import { type JsonSchema, type NamedShapes, toJsonSchema } from './json-schema.js'
import { refusalReference } from './refusals.js'

/** A row of a route list with documentation. */
export type DocumentedRoute = Route & { endpoint: Documentation }

/** The ways of authentication that every operation accepts. */
export const securityOfAll = [{ privateToken: [] }, { bearer: [] }, { session: [] }]

/** Returns a path in the form of OpenAPI: `/users/{id}`. */
export const documentedPath = (path: string) => path.replaceAll(/[:*](\w+)/g, '{$1}')

/** Describes one row of a route list as an OpenAPI operation. */
export function describeOperation(route: DocumentedRoute, named: NamedShapes): JsonSchema {
  const { method, path, guard, endpoint } = route
  const fields = fieldsOf(endpoint.input, named)
  const inPath = namesInPath(path)
  const others = [...fields].filter(([name]) => !inPath.includes(name))
  const streamedBody = endpoint.body
  const inBody = method !== 'GET' && method !== 'DELETE' && !streamedBody
  const { who, anonymous, parameters: described = {} } = guard.documents ?? {}
  const operationId = operationIdOf(method, path)
  const notes = [
    ...(who ? [`For ${who}.`] : []),
    ...(route.refusesUnknown ? ['An unknown parameter is refused.'] : []),
  ]
  const parameters: JsonSchema[] = [
    ...inPath.map((name) => ({
      name,
      in: 'path',
      required: true,
      ...withDescription(
        described[name],
        fields.get(name)?.schema ?? { type: 'string', maxLength: textCharsMax },
      ),
    })),
    ...(inBody
      ? []
      : others.map(([name, field]) => ({ name, in: 'query', ...field, schema: withoutNull(field.schema) }))),
  ]
  const isChange = method === 'PUT' || method === 'PATCH'
  if (isChange && endpoint.refusals?.includes(412)) parameters.push(...preconditionReferences)
  return {
    operationId,
    tags: [tagOf(path)],
    summary: endpoint.summary,
    ...(notes.length > 0 && { description: notes.join(' ') }),
    ...(anonymous && { security: [{}, ...securityOfAll] }),
    ...(parameters.length > 0 && { parameters }),
    ...(inBody &&
      others.length > 0 && { requestBody: requestBody(operationId, others, route.jsonOnly, named) }),
    ...(streamedBody && { requestBody: streamed(streamedBody) }),
    responses: {
      ...replies(route, fields, named),
      ...refusals(
        route,
        fields.size + inPath.length > 0,
        streamedBody !== undefined || (inBody && others.length > 0),
      ),
    },
  }
}

const streamed = (body: NonNullable<Documentation['body']>): JsonSchema => ({
  required: true,
  content: Object.fromEntries(
    Object.entries(body).map(([type, schema]) => [type, Object.keys(schema).length > 0 ? { schema } : {}]),
  ),
})

interface Field {
  required: boolean
  schema: JsonSchema
  description?: unknown
}

function fieldsOf(input: z.ZodType, named: NamedShapes): Map<string, Field> {
  const { properties = {} } = toJsonSchema(input, 'input', named) as {
    properties?: Record<string, JsonSchema>
  }
  const missed = input.safeParse({}).error?.issues.map(({ path }) => path[0]) ?? []
  const fields = Object.entries(properties).map(([name, { description, ...schema }]): [string, Field] => [
    name,
    { required: missed.includes(name), ...withDescription(description, schema) },
  ])
  return new Map(fields)
}

/** Removes null from a schema, because a query has no null. */
function withoutNull({ type, anyOf, ...schema }: JsonSchema): JsonSchema {
  const isNull = (each: unknown) => each === 'null' || (each as JsonSchema).type === 'null'
  if (Array.isArray(type)) return { type: type.find((each) => !isNull(each)), ...schema }
  if (!Array.isArray(anyOf)) return { ...(type !== undefined && { type }), ...schema }
  const others = anyOf.filter((each) => !isNull(each))
  return others.length === 1 ? { ...others[0], ...schema } : { anyOf: others, ...schema }
}

const withDescription = (description: unknown, schema: JsonSchema) =>
  description === undefined ? { schema } : { description, schema }

/** Describes the same fields in each form that the body may have. */
function requestBody(
  operationId: string,
  fields: [string, Field][],
  jsonOnly: boolean | undefined,
  named: NamedShapes,
): JsonSchema {
  const name = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Body`
  const required = fields.filter(([, field]) => field.required).map(([field]) => field)
  const properties = fields.map(([field, { schema, description }]) => [
    field,
    { ...(description !== undefined && { description }), ...schema },
  ])
  named.set(name, {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  })
  const forms = ['application/x-www-form-urlencoded', 'multipart/form-data']
  const types = ['application/json', ...(jsonOnly ? [] : forms)]
  const content = { schema: { $ref: `#/components/schemas/${name}` } }
  return {
    ...(required.length > 0 && { required: true }),
    content: Object.fromEntries(types.map((type) => [type, content])),
  }
}

function replies(
  { method, endpoint }: DocumentedRoute,
  fields: Map<string, Field>,
  named: NamedShapes,
): JsonSchema {
  const paged = fields.has('page') && fields.has('per_page') && !fields.has('cursor')
  const headers = endpoint.headers ? describedHeaders(endpoint.headers) : paged ? pageHeaderReferences : {}
  const described = Object.entries(endpoint.replies).map(([status, shape]) => [
    status,
    {
      description: status === '204' ? 'Success, without content' : endpoint.summary,
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(shape && { content: contentOf(shape, named) }),
    },
  ])
  const conditional = method === 'GET' && !Object.values(endpoint.replies).some(isStream)
  return {
    ...Object.fromEntries(described),
    ...(conditional && {
      304: { description: 'Not modified: the resource still has the ETag in `If-None-Match`' },
    }),
  }
}

const isStream = (shape: z.ZodType | string[] | null) =>
  Array.isArray(shape) && shape.includes('text/event-stream')

const describedHeaders = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )

function contentOf(shape: z.ZodType | string[], named: NamedShapes): JsonSchema {
  if (shape instanceof z.ZodType) {
    return { 'application/json': { schema: toJsonSchema(shape, 'output', named) } }
  }
  return Object.fromEntries(shape.map((type) => [type, {}]))
}

function refusals({ path, guard, endpoint }: DocumentedRoute, hasParameters: boolean, hasBody: boolean) {
  const statuses = [
    ...(hasParameters ? [400] : []),
    401,
    ...(guard.documents?.who ? [403] : []),
    ...(path.includes(':') ? [404] : []),
    ...(hasBody ? [408, 413, 415, 507] : []),
    ...(endpoint.refusals ?? []),
    429,
    500,
    503,
  ]
  return Object.fromEntries([...new Set(statuses)].sort().map((status) => [status, refusalReference(status)]))
}

/** `GET /projects/:id/members` → `getProjectsByIdMembers` */
function operationIdOf(method: string, path: string): string {
  const words = path
    .replaceAll(/\/[:*]/g, '/by-')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join('')
}

/** Returns the tag of an operation: its collection, and within a project the collection below it. */
function tagOf(path: string): string {
  const [first = '', second] = path.split('/').filter((part) => !/^(|[:*].*|repository)$/.test(part))
  return first === 'projects' && second !== undefined ? second : first
}
