import { addOperations, observe, observedOf } from '@switchyard/service-kit/http'
import type { Health } from '@switchyard/service-kit/lifecycle'
import type { Logger, Metrics } from '@switchyard/service-kit/observability'
import express, { type Express, type RequestHandler, type Response } from 'express'
import sirv from 'sirv'

export interface AppOptions {
  /** The folder of the built web application: `index.html` and `assets/`. */
  folder: string
  /** The folder of the packed clients, with `index.json`, which lists them. */
  clientsFolder: string
  logger: Logger
  metrics: Metrics
  health: Health
}

/**
 * The content security policy: pages run only scripts and styles from files of their own origin, and send
 * requests only to it.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
}

/**
 * Creates the application. `/console/assets/` has files whose names contain a hash of their content, so
 * caches keep them for ever. Every other path below `/console/` is an address of the application and answers
 * with its one page.
 */
export function createApp({ folder, clientsFolder, logger, metrics, health }: AppOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use(observe(logger, metrics))
  serveClients(app, clientsFolder)
  app.use(['/-', '/metrics'], (_request, response, next) => {
    observedOf(response).route = 'operations'
    next()
  })
  addOperations(app, health, metrics, [])

  const files = sirv(folder, { etag: true, gzip: true, brotli: true, setHeaders: setCaching })
  const page = sirv(folder, {
    single: true,
    // The address of a file in a repository ends like a file name, but must show the page, too.
    ignores: false,
    etag: true,
    gzip: true,
    brotli: true,
    setHeaders: setCaching,
  })
  app.use('/console', readingOnly, (_request, response, next) => {
    observedOf(response).route = '/console'
    response.set(pageHeaders)
    next()
  })
  app.use('/console/assets', (request, response) => {
    request.url = `/assets${request.url}`
    files(request, response, () => refuse(response, 404, '404 Not Found'))
  })
  app.use('/console', (request, response) =>
    page(request, response, () => refuse(response, 404, '404 Not Found')),
  )
  app.use((_request, response) => refuse(response, 404, '404 Not Found'))
  return app
}

/**
 * Serves `/-/clients/`: a list of the clients of this release, and the clients themselves, which package
 * managers install by their addresses.
 */
function serveClients(app: Express, folder: string): void {
  const files = sirv(folder, {
    etag: true,
    setHeaders: (response, path) => {
      setCaching(response, path)
      if (path.endsWith('.tgz')) response.setHeader('Content-Type', 'application/gzip')
    },
  })
  app.use('/-/clients', readingOnly, (request, response) => {
    observedOf(response).route = '/-/clients'
    if (request.path === '/') request.url = '/index.json'
    files(request, response, () => refuse(response, 404, '404 Not Found'))
  })
}

function setCaching(
  response: NodeJS.WritableStream & { setHeader(name: string, value: string): unknown },
  path: string,
) {
  const isHashed = path.startsWith('/assets/')
  response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
}

const readingOnly: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') next()
  else refuse(response.set('Allow', 'HEAD, GET'), 405, '405 Not Allowed')
}

function refuse(response: Response, status: number, error: string): void {
  response.status(status).json({ error, request_id: observedOf(response).requestId })
}
