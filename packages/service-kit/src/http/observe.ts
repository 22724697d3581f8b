import { randomUUID } from 'node:crypto'
import type { RequestHandler, Response } from 'express'
import { type Logger, type Metrics, tracing } from '../observability/index.js'
import type { AnswerForm } from './errors.js'

/** Headers of every answer. Pages replace the policy by their own. */
const securityHeaders = {
  // A browser that guesses the type of a file would run the file with the session of the user.
  'X-Content-Type-Options': 'nosniff',
  // Addresses contain names of projects and sagas, which other sites must not see.
  'Referrer-Policy': 'no-referrer',
  // An answer that is opened as a page runs nothing, loads nothing and appears in no frame.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}

const acceptableId = /^[\w.:/+=@-]{1,128}$/

/** Facts about a request that the first middleware collects for the later ones. */
export class Observed {
  /** Pattern of the matched route: a label with few values, unlike the path. */
  route = 'unmatched'
  /** Unset: the form of the API. */
  answerForm: AnswerForm | undefined
  readonly #parent: Logger
  #logger: Logger | undefined

  constructor(
    readonly requestId: string,
    parent: Logger,
  ) {
    this.#parent = parent
  }

  /**
   * Returns a logger that writes the request id in every line. It is created at its first use, because most
   * requests log only their own line.
   */
  get logger(): Logger {
    this.#logger ??= this.#parent.child({ request_id: this.requestId })
    return this.#logger
  }
}

export const observedOf = (response: Response): Observed => response.locals.observed as Observed

/** Passes the route of a request to the log, the metrics, the trace and the error handler. */
export function nameRoute(
  response: Response,
  path: string,
  { answerForm }: { answerForm?: AnswerForm | undefined },
): void {
  const observed = observedOf(response)
  observed.route = path
  observed.answerForm = answerForm
  tracing()?.nameRequest(path)
}

/**
 * Gives each request an id: the caller's `X-Request-Id` when it is short and plain. Gives each answer its
 * security headers. After the answer, writes one log line and the metrics of rate, errors and duration.
 * Probes and scrapes are counted, not logged.
 */
export function observe(logger: Logger, metrics: Metrics): RequestHandler {
  // The line of a request has fixed fields without secrets, so the search for secrets is skipped.
  const requests = logger.child({}, { redact: [] })
  return (request, response, next) => {
    const startedNs = process.hrtime.bigint()
    const given = request.get('X-Request-Id')
    const requestId = given !== undefined && acceptableId.test(given) ? given : randomUUID()
    const observed = new Observed(requestId, logger)
    response.locals.observed = observed
    response.setHeader('X-Request-Id', requestId)
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
    metrics.httpInFlight.inc()

    response.once('close', () => {
      const seconds = Number(process.hrtime.bigint() - startedNs) / 1e9
      const status = response.writableFinished ? String(response.statusCode) : 'aborted'
      const { method } = request
      const { route } = observed
      metrics.httpInFlight.dec()
      metrics.httpRequest({ method, route, status }, seconds)
      if (route !== 'operations') {
        const milliseconds = Math.round(seconds * 1e6) / 1000
        requests.info({ request_id: requestId, method, route, status, duration_ms: milliseconds }, 'request')
      }
    })
    next()
  }
}
