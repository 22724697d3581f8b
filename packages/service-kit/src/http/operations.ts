import type { Express } from 'express'
import { z } from 'zod'
import type { Health } from '../lifecycle/index.js'
import type { Metrics } from '../observability/index.js'
import { answered, endpoint, type Route, route } from './endpoint.js'
import { administratorOrScope } from './guards.js'
import { describeRoutes, type OpenApiDocument } from './openapi/describe-routes.js'
import { sendSmallJson } from './written-json.js'

/**
 * Adds liveness, readiness, metrics and the API description of a service, for operators and orchestrators,
 * without a token.
 */
export function addOperations(app: Express, health: Health, metrics: Metrics, routes: Route[]): void {
  app.get('/-/liveness', (_request, response) => {
    sendSmallJson(response.set('Cache-Control', 'no-store'), 200, { status: 'ok' })
  })

  app.get('/-/readiness', async (_request, response) => {
    const { ready, checks } = await health.readiness()
    const status = ready ? 'ok' : 'failed'
    sendSmallJson(response.set('Cache-Control', 'no-store'), ready ? 200 : 503, { status, checks })
  })

  app.get('/metrics', async (_request, response) => {
    response.set('Cache-Control', 'no-store').type(metrics.registry.contentType)
    response.send(await metrics.registry.metrics())
  })

  let document: OpenApiDocument | undefined
  app.get('/-/openapi.json', (_request, response) => {
    document ??= describeRoutes(routes)
    sendSmallJson(response, 200, document)
  })
}

/**
 * Returns the route `GET /-/metrics`: the metrics of `/metrics` for callers from outside, who are
 * administrators or have a token with the scope `read_metrics`.
 */
export const guardedMetrics = ({ registry }: Metrics): Route =>
  route(
    'GET',
    '/-/metrics',
    administratorOrScope('read_metrics'),
    endpoint({
      input: z.object({}),
      handle: async (_input, _access, { raw: { response } }) => {
        response.set('Cache-Control', 'no-store').type(registry.contentType)
        response.send(await registry.metrics())
        return answered
      },
    }),
    { outsideApi: true },
  )
