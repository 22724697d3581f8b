import { readFileSync } from 'node:fs'
import { z } from 'zod'

const routeSchema = z.union([
  // The service null: the answer is 404, and later routes are ignored.
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
  /** Path and query for the service: those of the request, unless the route rewrites the path. */
  url: string
}

/** Reads ops/gateway/routes.json. A test compares nginx.conf with it. */
export function readRoutes(file: string): Route[] {
  return z.array(routeSchema).parse(JSON.parse(readFileSync(file, 'utf8')))
}

/**
 * Returns a route `/-/<service>/metrics` for each service, which requires a token. Only the local gateway has
 * these routes; in production, metrics are scraped inside the network.
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
 * Finds the destination of a request: the first route that matches its raw path. Consecutive slashes count as
 * one, and a prefix matches whole path segments.
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
