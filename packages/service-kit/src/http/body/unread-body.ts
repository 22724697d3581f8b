import type { RequestHandler } from 'express'

/** How long a client may go on to send a body that nobody reads any more, because the request was refused. */
const unreadMsMax = 60_000

/**
 * Reads the rest of a body after the answer: it stands before the next request of the connection, and some clients
 * read an answer only when they have sent everything. A connection whose body does not end is closed.
 */
export const endUnreadBody: RequestHandler = (request, response, next) => {
  response.once('finish', () => {
    if (request.complete) return
    const timer = setTimeout(() => request.socket.destroy(), unreadMsMax)
    request.once('close', () => clearTimeout(timer))
    request.unpipe().resume()
  })
  next()
}
