import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { DirectCall, type DirectMethod } from './direct-call.js'

/**
 * Answers calls of these methods on their HTTP/2 streams, in place of the library. It keeps the
 * connections, and serves all that streams, is compressed or is not known here.
 *
 * @param onStreamOpened told of each call that is taken from the library
 */
export function answerDirectly(
  http2Server: Http2Server,
  methods: ReadonlyMap<string, DirectMethod>,
  onStreamOpened: (stream: ServerHttp2Stream) => void,
): void {
  const others = http2Server.listeners('stream')
  http2Server.removeAllListeners('stream')
  http2Server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => {
    const method = methods.get(String(headers[':path']))
    if (method !== undefined && isPlain(headers)) {
      onStreamOpened(stream)
      new DirectCall(stream, headers, method)
    } else for (const other of others) Reflect.apply(other, http2Server, [stream, headers, ...rest])
  })
}

const isPlain = (headers: IncomingHttpHeaders): boolean => {
  const encoding = headers['grpc-encoding']
  return (
    (encoding === undefined || encoding === 'identity') &&
    headers[':method'] === 'POST' &&
    headers['content-type']?.startsWith('application/grpc') === true
  )
}
