import type { Express } from 'express'
import type { Health } from '../lifecycle/index.js'
import type { Metrics } from '../observability/index.js'
import type { Route } from './endpoint.js'
import { describeRoutes, type OpenApiDocument } from './openapi/describe-routes.js'

/**
 * What operators and orchestrators ask every service: alive, ready, figures, and what it answers. No token is
 * needed.
 */
export function addOperations(app: Express, health: Health, metrics: Metrics, routes: Route[]): void {
  app.get('/-/liveness', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' })
  })

  app.get('/-/readiness', async (_request, response) => {
    const { ready, checks } = await health.readiness()
    response
      .set('Cache-Control', 'no-store')
      .status(ready ? 200 : 503)
      .json({ status: ready ? 'ok' : 'failed', checks })
  })

  app.get('/metrics', async (_request, response) => {
    response.set('Cache-Control', 'no-store').type(metrics.registry.contentType)
    response.send(await metrics.registry.metrics())
  })

  let document: OpenApiDocument | undefined
  app.get('/-/openapi.json', (_request, response) => {
    document ??= describeRoutes(routes)
    response.json(document)
  })
}
