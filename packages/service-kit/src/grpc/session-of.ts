import type { ServerHttp2Stream } from 'node:http2'

/** A library call that tells the stream it came by; the field is not part of its types. */
interface StreamedCall {
  stream?: ServerHttp2Stream
}

/** The HTTP/2 stream of a call; undefined where it cannot be told. */
export const streamOf = (call: object): ServerHttp2Stream | undefined => (call as StreamedCall).stream

/** The HTTP/2 session of a call; undefined where it cannot be told. */
export const sessionOf = (call: object): object | undefined => streamOf(call)?.session
