import cors from 'cors'
import type { RequestHandler } from 'express'

/**
 * Lets pages of the given origins call every route from a browser: answers preflights with 204, and names the
 * origin on all other answers, errors too. Such pages send tokens in headers: no answer allows credentials,
 * so a browser hands none that it got by a session cookie to them. Answers to other origins have no such
 * headers, so a browser refuses them.
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
    // A cache must not hand the answer for one origin to a page of another.
    response.vary('Origin')
    if (origins.includes(request.headers.origin ?? '')) allow(request, response, next)
    else next()
  }
}
