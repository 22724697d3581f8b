import { Router } from 'express'
import { type Call, pathOf, type Route } from './endpoint.js'
import { nameRoute, observedOf } from './observe.js'

/**
 * A function that passes a request on to another process.
 *
 * @returns whether it has answered, or the client went away
 */
export type Forward = (route: Route, call: Pick<Call, 'params' | 'requestId' | 'raw'>) => Promise<boolean>

/**
 * Returns a router that stands in front of the routes and finds the route of each request as they do. So a
 * request for another process is forwarded before any other work. Every process answers routes that are
 * limited to some requests.
 */
export function forwardingRouter(routes: readonly Route[], forward: Forward): Router {
  const router = Router({ caseSensitive: true })
  const byPath = new Map<string, Map<string, Route>>()
  for (const route of routes) {
    if (route.only) continue
    const ofPath = byPath.get(pathOf(route)) ?? new Map<string, Route>()
    byPath.set(pathOf(route), ofPath.set(route.method, route))
  }
  for (const [path, byMethod] of byPath) {
    router.all(path, async (request, response, next) => {
      const route = byMethod.get(request.method === 'HEAD' ? 'GET' : request.method)
      if (!route) return next()
      nameRoute(response, path, route)
      const { requestId } = observedOf(response)
      const params = request.params as Record<string, string>
      const isAnswered = await forward(route, { params, requestId, raw: { request, response } })
      if (!isAnswered) next('router')
    })
  }
  return router
}
