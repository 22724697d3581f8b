import cors from 'cors'
import type { RequestHandler } from 'express'

/**
 * Allows pages of the given origins to call every route from a browser. Answers preflights with 204, and
 * names the origin on all other answers, including errors. Such pages send tokens in headers. No answer
 * allows credentials, so a browser never shows these pages an answer to a session cookie. Answers to other
 * origins have no such headers, so a browser refuses them.
 *
 * @param origins exactly as browsers send them, e.g. `https://console.example.com`
 */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  const allow = cors({
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'PRIVATE-TOKEN',
      'Authorization',
      'Content-Type',
      'X-Request-Id',
      'If-None-Match',
      'If-Match',
      'If-Unmodified-Since',
      'Last-Event-ID',
    ],
    exposedHeaders: [
      'Link',
      'X-Page',
      'X-Per-Page',
      'X-Next-Page',
      'X-Prev-Page',
      'X-Total',
      'X-Total-Pages',
      'ETag',
      'Retry-After',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'X-Request-Id',
    ],
    // Browsers ask again after ten minutes.
    maxAge: 600,
  })
  return (request, response, next) => {
    // A cache must not serve the answer for one origin to a page of another.
    response.vary('Origin')
    if (origins.includes(request.headers.origin ?? '')) allow(request, response, next)
    else next()
  }
}
