import { setMaxListeners } from 'node:events'
import { DomainError, unavailable } from '@switchyard/domain'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import type { Health } from '../lifecycle/index.js'
import type { Logger, Metrics } from '../observability/index.js'
import type { Slots } from '../slots.js'
import { answerHolder, createAnswerMemory, type HoldAnswer } from './answer-memory.js'
import { type Authenticate, askingForPassword, type FindCaller, hashToken } from './authentication.js'
import type { Pace } from './body/arriving.js'
import { createBodyMemory, openBodyMemory } from './body/body-memory.js'
import { readForm } from './body/form.js'
import { bodyBytesDefault, type ReadOptions, readInput, readOwnBody, readQuery } from './body/read-input.js'
import { endUnreadBody } from './body/receive-body.js'
import { crossOrigin } from './cors.js'
import { boundPath, declaredNames, refuseSudo, refuseUnknown } from './declared-parameters.js'
import type { Call, Reply, Route } from './endpoint.js'
import { answered, pathOf } from './endpoint.js'
import { sendError } from './errors.js'
import { type Forward, forwardingRouter } from './forwarding-router.js'
import { type CreateLimiter, limitersOfProcess } from './limiters.js'
import { recheckWhileOpen } from './long-lived.js'
import { nameRoute, observe, observedOf } from './observe.js'
import { addOperations, guardedMetrics } from './operations.js'
import { requestedUrl } from './own-origin.js'
import { readParameters } from './parameters.js'
import { versionOf } from './precondition.js'
import { createRateLimit, type RateLimit } from './rate-limit.js'
import { createFindSender, type FindSender, type SenderOptions, senderKey } from './sender.js'
import { limitUnknownTokens } from './unknown-tokens.js'
import { sendJson, sendSmallJson, WrittenJson, writeJson } from './written-json.js'

export interface HttpAppOptions {
  logger: Logger
  metrics: Metrics
  health: Health
  authenticate: Authenticate
  /** Finds the holder of a session by the SHA-256 of its secret. Unset: no session is accepted. */
  findSession?: FindCaller
  routes: Route[]
  /** Returns the project that a request names, for services that accept identity tokens of CI jobs. */
  projectOf?: SenderOptions['projectOf']
  /** Requests per token or address; 0: no limit. */
  rateLimitPerMinute: number
  /** Creates the counters of limits. Unset: this process counts alone. */
  createLimiter?: CreateLimiter
  /**
   * Returns whether an error means that the database is unavailable, so that a later attempt may work. Unset:
   * no error does.
   */
  isUnavailable?: (error: unknown) => boolean
  /**
   * Returns the refusal that an error of a dependency stands for, for example a row that is gone. Unset or
   * null: none.
   */
  refusalOf?: (error: unknown) => DomainError | null
  /** Base of links in answers. Unset: taken from the request. */
  externalUrl?: string
  /** Origins whose pages may call the service from a browser. Unset: none. */
  corsAllowedOrigins?: string[]
  /** Passes requests on that another process has to answer. Unset: this process answers all. */
  forward?: Forward | undefined
  /** Slowest pace at which request bodies may arrive. Unset: 256 KiB in each half minute, or the rest. */
  bodyPace?: Pace
}

const bodyPace: Pace = { periodMs: 30_000, periodBytesMin: 256 * 1024 }

/**
 * Creates the HTTP side of a service: every route of its list, the pages for operators, and the documented
 * answers for unknown paths, wrong methods and failures.
 *
 * A request is checked in this order: authentication, rate, guard (project, role), parameters, and then the
 * rules of the endpoint.
 */
export function createHttpApp(options: HttpAppOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('trust proxy', 'loopback, linklocal, uniquelocal')
  app.set('query parser', (query: string | null) => readForm(new URLSearchParams(query ?? '')))
  app.set('case sensitive routing', true)
  app.use(observe(options.logger, options.metrics))
  if (options.corsAllowedOrigins) app.use(crossOrigin(options.corsAllowedOrigins))
  app.use(endUnreadBody)
  app.use(['/-', '/metrics'], (_request, response, next) => {
    observedOf(response).route = 'operations'
    next()
  })
  addOperations(app, options.health, options.metrics, options.routes)

  const deps: Dependencies = {
    ...findingSenders(options),
    rateLimit: createRateLimit(options.rateLimitPerMinute, options.createLimiter ?? limitersOfProcess),
    bodies: createBodyMemory(),
    answers: createAnswerMemory(),
  }
  if (options.forward) app.use(forwardingRouter(options.routes, options.forward))
  const routes = [...options.routes, guardedMetrics(options.metrics)]
  const add = (route: Route, wrap: (handle: RequestHandler) => RequestHandler) => {
    const handle = wrap(handler(route, pathOf(route), options, deps))
    // Express answers HEAD with the handler of GET.
    app[route.method.toLowerCase() as 'get'](pathOf(route), handle)
  }
  const forAll = routes.filter(({ only }) => !only)
  for (const route of forAll) add(route, route.basicAuthentication ? askingForPassword : (handle) => handle)
  for (const [path, methods] of methodsByPath(forAll)) app.all(path, wrongVerb(methods))
  for (const route of routes) if (route.only) add(route, forSome(route.only))

  app.use((_request: Request, response: Response) => {
    sendSmallJson(response, 404, { error: '404 Not Found', request_id: observedOf(response).requestId })
  })
  app.use((error: unknown, _request: Request, response: Response, _next: express.NextFunction) => {
    const { requestId, logger, answerForm } = observedOf(response)
    sendError(response, knownError(error, options), { requestId, logger, answerForm })
  })
  return app
}

function knownError(error: unknown, { isUnavailable, refusalOf }: HttpAppOptions): unknown {
  if (error instanceof DomainError) return error
  if (isUnavailable?.(error)) return unavailable('', { cause: error })
  return refusalOf?.(error) ?? error
}

/** Wraps a handler so that it passes every other request to the next route. */
const forSome =
  (only: (request: Request) => boolean) =>
  (handle: RequestHandler): RequestHandler =>
  (request, response, next) =>
    only(request) ? handle(request, response, next) : next()

/** Returns whether a request comes from a browser that opens a page. */
export const prefersHtml = (request: Request): boolean => request.accepts(['json', 'html']) === 'html'

function methodsByPath(routes: Route[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const route of routes)
    methods.set(pathOf(route), [...(methods.get(pathOf(route)) ?? []), route.method])
  return methods
}

function wrongVerb(methods: string[]): RequestHandler {
  const allowed = methods.includes('GET') ? ['HEAD', ...methods] : methods
  return (_request, response) => {
    response.set('Allow', allowed.join(', '))
    sendSmallJson(response, 405, { error: '405 Not Allowed', request_id: observedOf(response).requestId })
  }
}

interface Dependencies {
  findSender: FindSender
  /**
   * Finds the sender of a request that was admitted before. A secret that no longer works does not count
   * towards the limit of unknown tokens.
   */
  findSenderAgain: FindSender
  rateLimit: RateLimit
  /** Bytes of the bodies of all requests. */
  bodies: Slots
  /** Bytes of large answers. */
  answers: Slots
}

function findingSenders(options: HttpAppOptions): Pick<Dependencies, 'findSender' | 'findSenderAgain'> {
  const { authenticate, findSession, externalUrl, projectOf, rateLimitPerMinute } = options
  // Sessions are looked up at each request and not remembered, so that a session is invalid as soon as its
  // user signs out.
  const authenticateSession: Authenticate = async (secret) => (await findSession?.(hashToken(secret))) ?? null
  const limiting = {
    isOn: rateLimitPerMinute > 0,
    createLimiter: options.createLimiter ?? limitersOfProcess,
  }
  return {
    findSender: createFindSender({
      authenticate: limitUnknownTokens(authenticate, { ...limiting, kind: 'tokens' }),
      authenticateSession: limitUnknownTokens(authenticateSession, { ...limiting, kind: 'sessions' }),
      externalUrl,
      projectOf,
    }),
    findSenderAgain: createFindSender({ authenticate, authenticateSession, externalUrl, projectOf }),
  }
}

function handler(route: Route, path: string, options: HttpAppOptions, deps: Dependencies): RequestHandler {
  const parameterNames = declaredNames(route.endpoint.input)
  return async (request, response) => {
    nameRoute(response, path, route)
    // Fetch clients send `Cache-Control: no-cache` along with If-None-Match, and express then never answers
    // 304. The header addresses caches between client and service, so it is ignored here.
    delete request.headers['cache-control']
    const caller = await admit(route, request, response, deps)
    const refused = route.longLived ? new AbortController() : undefined
    boundPath(request.params, parameterNames)
    const sender = senderKey({ caller, raw: { request, response } })
    const call = createCall(request, response, {
      caller,
      holdAnswer: answerHolder(deps.answers, sender, response),
      parameterNames,
      externalUrl: options.externalUrl,
      refused: refused?.signal,
    })
    const access = await route.guard(call)
    const refusal = refused && recheckGuard(call, route, deps.findSenderAgain, refused)
    const memory = openBodyMemory(deps.bodies, sender)
    const answering = async () => {
      const sent = await readGiven(route, call, { pace: options.bodyPace ?? bodyPace, memory, sender })
      if (!route.outsideApi) refuseSudo(request.headers, sent)
      refuseUnknown(route, sent, parameterNames)
      const given = route.defaults ? { ...route.defaults(access), ...sent } : sent
      const input = readParameters(route.endpoint.input, given)
      return route.endpoint.handle(input, access, call)
    }
    try {
      const reply = await (refusal ? Promise.race([answering(), refusal]) : answering())
      if (reply === answered) return
      await send(response, reply, call.holdAnswer, route.answerForm?.mediaType)
    } finally {
      // The endpoint may hold the body until here.
      memory.release()
    }
  }
}

/** Reads all parameters and the body of a request for its endpoint. */
async function readGiven(
  route: Route,
  call: Call,
  receiving: Pick<ReadOptions, 'pace' | 'memory' | 'sender'>,
) {
  const { request } = call.raw
  const { bodyBytesMax: bytesMax = bodyBytesDefault, ownBody, parseLargeBody, jsonOnly, keptTexts } = route
  if (ownBody) call.body = await readOwnBody(request, { ...receiving, ...ownBody, bytesMax })
  if (ownBody || route.streamsBody) return { ...readQuery(request), ...request.params }
  return readInput(request, { ...receiving, bytesMax, parseLargeBody, jsonOnly, keptTexts })
}

/**
 * Finds the sender of a request and counts the request.
 *
 * @throws DomainError unauthenticated, forbidden, rate-limited
 */
async function admit(route: Route, request: Request, response: Response, deps: Dependencies) {
  if (route.internal) return null
  const { caller, limitKey } = await deps.findSender(route, request, () => abortedWith(response))
  await deps.rateLimit(response, limitKey)
  return caller
}

function createCall(
  request: Request,
  response: Response,
  {
    caller,
    parameterNames,
    holdAnswer,
    externalUrl,
    refused,
  }: Pick<Call, 'caller' | 'parameterNames' | 'holdAnswer'> & {
    externalUrl: string | undefined
    refused: AbortSignal | undefined
  },
): Call {
  const observed = observedOf(response)
  let signal: AbortSignal | undefined
  return {
    caller,
    parameterNames,
    holdAnswer,
    params: request.params as Record<string, string>,
    requestId: observed.requestId,
    // Logger and signal are created at their first use, because most calls need neither.
    get logger() {
      return observed.logger
    },
    get signal() {
      signal ??= refused ? AbortSignal.any([abortedWith(response), refused]) : abortedWith(response)
      return signal
    },
    baseUrl: externalUrl ?? requestedUrl(request),
    raw: { request, response },
  }
}

/**
 * Returns a promise that rejects when the sender loses the right to the answer before the answer has begun.
 */
function recheckGuard(
  call: Call,
  route: Route,
  findSender: FindSender,
  refused: AbortController,
): Promise<never> {
  const { request, response } = call.raw
  return new Promise((_resolve, refuse) => {
    recheckWhileOpen({
      response,
      check: async () => {
        const { caller } = await findSender(route, request)
        return route.guard({ ...call, caller })
      },
      end: (refusal) => refused.abort(refusal),
      refuse,
      logger: () => call.logger,
    })
  })
}

/** Returns a signal that is aborted when the client goes away before its answer is complete. */
function abortedWith(response: Response): AbortSignal {
  const aborted = new AbortController()
  // The work on each commit of a page may listen to the signal at the same time.
  setMaxListeners(0, aborted.signal)
  const end = () => {
    if (!response.writableFinished) aborted.abort(new DomainError('unavailable', 'the client went away'))
  }
  if (response.closed) end()
  else response.once('close', end)
  return aborted.signal
}

/** The headers that an answer for one caller depends on. */
const varyByCaller = 'Accept-Encoding, PRIVATE-TOKEN, Authorization, Cookie'

/** Sends a reply. */
async function send(
  response: Response,
  { status, body, headers, updatedAt }: Reply,
  hold: HoldAnswer,
  mediaType?: string,
): Promise<void> {
  const written = body === undefined || body instanceof WrittenJson ? body : await writeJson(body)
  if (written) await hold(written.bytes)
  response.setHeader('Cache-Control', 'max-age=0, private, must-revalidate')
  const { Vary = varyByCaller, ...others } = headers ?? {}
  response.vary(Vary)
  for (const [name, value] of Object.entries(others)) response.setHeader(name, value)
  response.status(status)
  if (written) await sendJson(response, written, { mediaType, version: updatedAt && versionOf(updatedAt) })
  else response.end()
}
