import { randomUUID } from 'node:crypto'
import type { RequestHandler, Response } from 'express'
import type { Logger, Metrics, Tally } from '../observability/index.js'

const acceptableId = /^[\w.:/+=@-]{1,128}$/

/** What the first middleware leaves for the later ones. */
export class Observed {
  /** Pattern of the matched route: a label with few values, unlike the path. */
  route = 'unmatched'
  readonly #parent: Logger
  #logger: Logger | undefined

  constructor(
    readonly requestId: string,
    parent: Logger,
  ) {
    this.#parent = parent
  }

  /** Carries the id in every line. Most requests have nothing to say, so it is made when it is asked for. */
  get logger(): Logger {
    this.#logger ??= this.#parent.child({ request_id: this.requestId })
    return this.#logger
  }
}

export const observedOf = (response: Response): Observed => response.locals.observed as Observed

/**
 * Gives each request an id (the caller's `X-Request-Id` when it is sensible), and when the answer is
 * out, one log line and the RED figures. Probes and scrapes are counted, not logged.
 */
export function observe(logger: Logger, metrics: Metrics): RequestHandler {
  // All that is in the line of a request is known here, and seeking secrets in it takes longer than writing it.
  const requests = logger.child({}, { redact: [] })
  const tallyOf = createTallies(metrics)
  return (request, response, next) => {
    const startedNs = process.hrtime.bigint()
    const given = request.get('X-Request-Id')
    const requestId = given !== undefined && acceptableId.test(given) ? given : randomUUID()
    const observed = new Observed(requestId, logger)
    response.locals.observed = observed
    response.setHeader('X-Request-Id', requestId)
    metrics.httpInFlight.inc()

    response.once('close', () => {
      const seconds = Number(process.hrtime.bigint() - startedNs) / 1e9
      const status = response.writableFinished ? String(response.statusCode) : 'aborted'
      const { method } = request
      const { route } = observed
      metrics.httpInFlight.dec()
      tallyOf(method, route, status).observe(seconds)
      if (route !== 'operations') {
        const milliseconds = Math.round(seconds * 1e6) / 1000
        requests.info({ request_id: requestId, method, route, status, duration_ms: milliseconds }, 'request')
      }
    })
    next()
  }
}

/** The tally of each verb, route and outcome; node refuses verbs that it does not know, so they are few. */
function createTallies({ httpDuration }: Metrics) {
  const tallies = new Map<string, Tally<'method' | 'route' | 'status'>>()
  return (method: string, route: string, status: string) => {
    const key = `${status} ${method} ${route}`
    let tally = tallies.get(key)
    if (!tally) {
      tally = httpDuration.tally({ method, route, status })
      tallies.set(key, tally)
    }
    return tally
  }
}
