import type { Route } from '../endpoint.js'
import {
  type DocumentedRoute,
  describeOperation,
  documentedPath,
  securityOfAll,
} from './describe-operation.js'
import { pageHeaders, preconditionHeaders } from './headers.js'
import type { JsonSchema, NamedShapes } from './json-schema.js'
import { refusalResponses } from './refusals.js'

const description = `Commits, comments, statuses, broadcast messages, job queues and sagas behind one API, in GitLab's shapes.

Parameters may stand in the query, in a JSON body or in a form (urlencoded or multipart); texts are taken for numbers,
booleans and times. Slashes in a path parameter are written as \`%2F\`. Every answer has \`X-Request-Id\`, every error
names it as \`request_id\`.`

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, JsonSchema>>
  components: Record<string, Record<string, JsonSchema>>
  [key: string]: unknown
}

/**
 * Returns the documented routes. Routes outside the API speak other protocols, which are described elsewhere.
 */
function documentedRoutes(routes: Route[]): DocumentedRoute[] {
  return routes
    .filter(({ outsideApi }) => !outsideApi)
    .map((route) => {
      const { summary, replies } = route.endpoint
      if (summary === undefined || replies === undefined)
        throw new Error(`${route.method} ${route.path} does not say what it does`)
      return { ...route, endpoint: { ...route.endpoint, summary, replies } }
    })
}

/**
 * Creates the OpenAPI 3.1 document of a route list.
 *
 * @throws Error when a route has no summary, and when two different shapes have one name
 */
export function describeRoutes(routes: Route[]): OpenApiDocument {
  const named: NamedShapes = new Map()
  const paths: OpenApiDocument['paths'] = {}
  for (const route of documentedRoutes(routes)) {
    const path = documentedPath(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, named) }
  }
  const responses = refusalResponses(named)
  return {
    openapi: '3.1.0',
    info: { title: 'Switchyard', version: 'v4', description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/api/v4' }],
    security: securityOfAll,
    paths,
    components: {
      schemas: Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses,
      headers: pageHeaders,
      parameters: preconditionHeaders,
      securitySchemes: {
        privateToken: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN' },
        bearer: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'switchyard_session',
          description:
            'The cookie of `POST /session`, for pages of the same origin; on https its name is `__Host-switchyard_session`',
        },
      },
    },
  }
}
