import { setMaxListeners } from 'node:events'
import { DomainError, unavailable } from '@switchyard/domain'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { LRUCache } from 'lru-cache'
import type { Health } from '../lifecycle/index.js'
import type { Logger, Metrics } from '../observability/index.js'
import { type Authenticate, callerOf } from './authentication.js'
import { bodyBytesDefault, readInput } from './body.js'
import type { Call, Reply, Route } from './endpoint.js'
import { streamed } from './endpoint.js'
import { sendError } from './errors.js'
import { recheckWhileOpen } from './long-lived.js'
import { observe, observedOf } from './observe.js'
import { addOperations } from './operations.js'
import { readParameters } from './parameters.js'
import { createRateLimit, type RateLimit } from './rate-limit.js'
import { sendJson, WrittenJson, writeJson } from './written-json.js'

export interface HttpAppOptions {
  logger: Logger
  metrics: Metrics
  health: Health
  authenticate: Authenticate
  routes: Route[]
  /** Requests per token or address; 0: no limit. */
  rateLimitPerMinute: number
  /** Whether a failure is a neighbour's that is away, so that trying again later may work. Unset: none is. */
  isUnavailable?: (error: unknown) => boolean
  /** Base of links in answers. Unset: taken from the request. */
  externalUrl?: string
}

const apiPrefix = '/api/v4'

/**
 * The HTTP side of a service: every route of its list, the operators' pages, and the documented answers
 * for unknown paths, wrong verbs and failures.
 *
 * A request is checked in this order: rate, authentication, guard (project, role), parameters, then
 * whatever the endpoint decides.
 */
export function createHttpApp(options: HttpAppOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  trustProxies(app)
  app.set('query parser', 'extended')
  app.set('case sensitive routing', true)
  app.use(observe(options.logger, options.metrics))
  app.use(['/-', '/metrics'], (_request, response, next) => {
    observedOf(response).route = 'operations'
    next()
  })
  addOperations(app, options.health, options.metrics, options.routes)

  const rateLimit = createRateLimit(options.rateLimitPerMinute)
  for (const route of options.routes) {
    const path = pathOf(route)
    // Express answers HEAD with the handler of GET.
    app[route.method.toLowerCase() as 'get'](path, handler(route, path, options, rateLimit))
  }
  for (const [path, methods] of methodsByPath(options.routes)) app.all(path, wrongVerb(methods))

  app.use((_request: Request, response: Response) => {
    response.status(404).json({ error: '404 Not Found', request_id: observedOf(response).requestId })
  })
  app.use((error: unknown, _request: Request, response: Response, _next: express.NextFunction) => {
    const { requestId, logger } = observedOf(response)
    const away = !(error instanceof DomainError) && options.isUnavailable?.(error)
    sendError(response, away ? unavailable('', { cause: error }) : error, requestId, logger)
  })
  return app
}

/** Requests come from few addresses, and looking one of them up takes as long as reading a small request. */
function trustProxies(app: Express): void {
  app.set('trust proxy', 'loopback, linklocal, uniquelocal')
  const isTrusted: (address: string) => boolean = app.get('trust proxy fn')
  const known = new LRUCache<string, boolean>({ max: 1000 })
  app.set('trust proxy', (address: string) => {
    const before = known.get(address)
    if (before !== undefined) return before
    const trusted = isTrusted(address)
    known.set(address, trusted)
    return trusted
  })
}

const pathOf = ({ path, outsideApi }: Route) => (outsideApi ? path : apiPrefix + path)

function methodsByPath(routes: Route[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const route of routes)
    methods.set(pathOf(route), [...(methods.get(pathOf(route)) ?? []), route.method])
  return methods
}

function wrongVerb(methods: string[]): RequestHandler {
  const allowed = methods.includes('GET') ? ['HEAD', ...methods] : methods
  return (_request, response) => {
    response.set('Allow', allowed.join(', ')).status(405)
    response.json({ error: '405 Not Allowed', request_id: observedOf(response).requestId })
  }
}

function handler(route: Route, path: string, options: HttpAppOptions, rateLimit: RateLimit): RequestHandler {
  return async (request, response) => {
    observedOf(response).route = path
    await rateLimit(request, response)
    const caller = await callerOf(request.headers, options.authenticate)
    const refused = route.longLived ? new AbortController() : undefined
    const call = createCall(request, response, caller, options.externalUrl, refused?.signal)
    const access = await route.guard(call)
    if (refused) recheckGuard(call, route, options.authenticate, refused)
    const given = route.streamsBody
      ? { ...request.query, ...request.params }
      : await readInput(request, response, route.bodyBytesMax ?? bodyBytesDefault, route.longTextKey)
    const reply = await route.endpoint.handle(readParameters(route.endpoint.input, given), access, call)
    if (reply !== streamed) await send(response, reply)
  }
}

function createCall(
  request: Request,
  response: Response,
  caller: Call['caller'],
  externalUrl?: string,
  refused?: AbortSignal,
): Call {
  const observed = observedOf(response)
  let signal: AbortSignal | undefined
  return {
    caller,
    params: request.params as Record<string, string>,
    requestId: observed.requestId,
    // Made for those who ask for them: most calls end without either.
    get logger() {
      return observed.logger
    },
    get signal() {
      signal ??= refused ? AbortSignal.any([abortedWith(response), refused]) : abortedWith(response)
      return signal
    },
    baseUrl: externalUrl ?? `${request.protocol}://${request.host}`,
    raw: { request, response },
  }
}

function recheckGuard(call: Call, route: Route, authenticate: Authenticate, refused: AbortController): void {
  const { request, response } = call.raw
  recheckWhileOpen({
    response,
    check: async () => route.guard({ ...call, caller: await callerOf(request.headers, authenticate) }),
    end: (refusal) => refused.abort(refusal),
    logger: () => call.logger,
  })
}

/** A signal that is aborted when the client goes away before its answer is complete. */
function abortedWith(response: Response): AbortSignal {
  const aborted = new AbortController()
  // A page of commits asks for each of them at once.
  setMaxListeners(0, aborted.signal)
  const end = () => {
    if (!response.writableFinished) aborted.abort(new DomainError('unavailable', 'the client went away'))
  }
  if (response.closed) end()
  else response.once('close', end)
  return aborted.signal
}

async function send(response: Response, { status, body, headers }: Reply): Promise<void> {
  // `no-cache` is for caches on the way. Every fetch client sends it along with If-None-Match, and express
  // would then never answer 304.
  delete response.req.headers['cache-control']
  response.setHeader('Cache-Control', 'max-age=0, private, must-revalidate')
  response.setHeader('Vary', 'Accept-Encoding, PRIVATE-TOKEN, Authorization')
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value)
  response.status(status)
  if (body === undefined) response.end()
  else await sendJson(response, body instanceof WrittenJson ? body : await writeJson(body))
}
