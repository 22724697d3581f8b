import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

/**
 * Headers about one connection (RFC 9110 section 7.6.1). Node frames bodies and answers `Expect` by itself.
 */
const connectionHeaders = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
]

/**
 * Headers that stay even when a client names them in Connection. Without them, the service would read another
 * request than this gateway.
 */
const framing = new Set(['host', 'content-length', 'transfer-encoding'])

/** Removes the headers about one connection, including those that Connection names. */
export function removeConnectionHeaders(headers: IncomingHttpHeaders): void {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  for (const name of [...connectionHeaders, ...named]) if (!framing.has(name)) delete headers[name]
}

/** Returns whether the client wants the connection to be closed after the answer, by its original headers. */
function isLast({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const values = rawHeaders.filter(
    (_text, index) => rawHeaders[index - 1]?.toLowerCase() === 'connection' && index % 2 === 1,
  )
  const options = values
    .join()
    .toLowerCase()
    .split(/[\s,]+/)
  return options.includes('close') || (httpVersion === '1.0' && !options.includes('keep-alive'))
}

export const hasUnreadBody = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)

/** Returns the header Connection of an answer that begins now. */
export const connectionOfAnswer = (request: IncomingMessage): 'close' | 'keep-alive' =>
  isLast(request) && !hasUnreadBody(request) ? 'close' : 'keep-alive'

/**
 * Longest time for which a client with its answer may continue to send its body, and longest pause meanwhile.
 */
const lingerMs = { most: 30_000, pause: 2000 }

/**
 * Closes a connection after the client has sent its body, if the client wants that. A connection that is
 * closed earlier is reset, and the client may then miss the answer.
 */
export function closeWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  if (!isLast(request)) return
  response.once('close', () => {
    // Node itself closes the connection of an answer with `Connection: close`.
    if (socket.destroyed || response.getHeader('connection') === 'close') return
    if (request.complete) return socket.destroySoon()
    request.once('end', () => socket.destroySoon())
    socket.setTimeout(lingerMs.pause, () => socket.destroy())
    const timer = setTimeout(() => socket.destroy(), lingerMs.most)
    socket.once('close', () => clearTimeout(timer))
  })
}
