import { status } from '@grpc/grpc-js'
import {
  encodeFields,
  noReader,
  type RequestHeaders,
  type Stream,
  type StreamReader,
} from '../http2/index.js'
import type { Caller } from './caller.js'
import { DirectCall, type DirectMethod } from './direct-call.js'
import type { LibraryCalls } from './library-calls.js'

const tooLarge = encodeFields([
  [':status', '200'],
  ['content-type', 'application/grpc+proto'],
  ['grpc-status', String(status.RESOURCE_EXHAUSTED)],
  ['grpc-message', 'Received metadata larger than max'],
])

/** Answers calls of these methods on their streams; the library has all that streams, is compressed or is not known. */
export function acceptCall(
  stream: Stream,
  headers: RequestHeaders | null,
  caller: Caller,
  methods: ReadonlyMap<string, DirectMethod>,
  library: LibraryCalls,
): StreamReader {
  if (headers === null) {
    stream.respond(tooLarge, true)
    return noReader
  }
  const method = methods.get(headers[':path'] ?? '')
  return method !== undefined && isPlain(headers)
    ? new DirectCall(stream, headers, method, caller)
    : library.open(stream, headers, caller)
}

const isPlain = (headers: RequestHeaders): boolean => {
  const encoding = headers['grpc-encoding']
  return (
    (encoding === undefined || encoding === 'identity') &&
    headers[':method'] === 'POST' &&
    headers['content-length'] === undefined &&
    headers['content-type']?.startsWith('application/grpc') === true
  )
}
