import type { Http2Server, ServerHttp2Stream } from 'node:http2'
import type { Server } from '@grpc/grpc-js'

/** The part of the library's server that connections are served by. */
interface ServerInside {
  http2Servers: Map<Http2Server, unknown>
  /** Counts a stream, so that its connection is not idle until it is closed. */
  onStreamOpened(stream: ServerHttp2Stream): void
}

/** What a bound server listens with; null where the inside of the library is not as it is known. */
export function insideOf(server: Server): ServerInside | null {
  const inside: unknown = server
  return isKnown(inside) ? inside : null
}

const isKnown = (inside: unknown): inside is ServerInside =>
  typeof inside === 'object' &&
  inside !== null &&
  'http2Servers' in inside &&
  inside.http2Servers instanceof Map &&
  'onStreamOpened' in inside &&
  typeof inside.onStreamOpened === 'function'
