import { readFileSync } from 'node:fs'
import { z } from 'zod'

const routeSchema = z.union([
  // null: nothing is there, whatever stands further down.
  z.object({ match: z.literal('prefix'), path: z.string().startsWith('/'), service: z.string().nullable() }),
  z.object({
    match: z.literal('regex'),
    path: z.string(),
    service: z.string(),
    rewrite: z.string().optional(),
  }),
])

export type Route = z.output<typeof routeSchema>

export interface Destination {
  service: string
  /** Path and query for the service: exactly what came in, unless the route rewrites the path. */
  url: string
}

/** Reads gateway/routes.json, which nginx.conf is tested against. */
export function readRoutes(file: string): Route[] {
  return z.array(routeSchema).parse(JSON.parse(readFileSync(file, 'utf8')))
}

/**
 * `/-/<service>/metrics` for each service, which asks for a token there. Only the local gateway has these routes:
 * elsewhere metrics are scraped inside the network.
 */
export function metricsRoutes(services: string[]): Route[] {
  return services.map((service) => ({
    match: 'regex',
    path: `^/-/${service}/metrics$`,
    service,
    rewrite: '/-/metrics',
  }))
}

/**
 * Where a request goes: the first route that fits its raw path, in which slashes in a row count as one. A prefix ends at
 * a slash or with the path.
 */
export function findDestination(routes: Route[], url: string): Destination | null {
  const queryStart = url.indexOf('?')
  const path = (queryStart === -1 ? url : url.slice(0, queryStart)).replaceAll(/\/+/g, '/')
  const query = queryStart === -1 ? '' : url.slice(queryStart)
  for (const route of routes) {
    if (route.match === 'prefix' && hasPrefix(path, route.path)) {
      return route.service === null ? null : { service: route.service, url }
    }
    if (route.match === 'regex' && new RegExp(route.path).test(path)) {
      const target = route.rewrite ? path.replace(new RegExp(route.path), route.rewrite) : path
      return { service: route.service, url: target + query }
    }
  }
  return null
}

function hasPrefix(path: string, prefix: string): boolean {
  return prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix || path.startsWith(`${prefix}/`)
}
