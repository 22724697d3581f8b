import { randomUUID } from 'node:crypto'
import type { RequestHandler, Response } from 'express'
import { type Logger, type Metrics, tracing } from '../observability/index.js'
import type { AnswerForm } from './errors.js'

/** Headers of every answer. Answers that are pages replace the policy by one of their own. */
const securityHeaders = {
  // A browser that guessed the type of a file would run it with the session of the user.
  'X-Content-Type-Options': 'nosniff',
  // Addresses name projects and sagas, which are nobody else's concern.
  'Referrer-Policy': 'no-referrer',
  // An answer that is opened as a page runs nothing, loads nothing and is shown in no frame.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}

const acceptableId = /^[\w.:/+=@-]{1,128}$/

/** What the first middleware knows of a request, for the later ones. */
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
   * Writes the request id in every line. Made at the first use: most requests log nothing besides their own
   * line.
   */
  get logger(): Logger {
    this.#logger ??= this.#parent.child({ request_id: this.requestId })
    return this.#logger
  }
}

export const observedOf = (response: Response): Observed => response.locals.observed as Observed

/** Tells the log, the metrics, the trace and the error handler which route a request is for. */
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
 * Gives each request an id (the caller's `X-Request-Id` when it is short and plain), each answer the headers
 * that keep browsers careful, and, after the answer, one log line and its rate, error and duration metrics.
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
