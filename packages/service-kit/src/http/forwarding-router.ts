import { Router } from 'express'
import { type Call, pathOf, type Route } from './endpoint.js'
import { nameRoute, observedOf } from './observe.js'

/** @returns whether it has answered, or the client went away */
export type Forward = (route: Route, call: Pick<Call, 'params' | 'requestId' | 'raw'>) => Promise<boolean>

/**
 * Stands in front of the routes and finds the route of each request as they do, so that a request for another
 * process is forwarded before anything else is done for it. Routes for some requests only are answered by
 * every process.
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
