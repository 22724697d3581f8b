import type { Http2Session, ServerHttp2Stream } from 'node:http2'

/** A call that tells the stream it came by; the field is not part of the library's types. */
interface StreamedCall {
  stream?: ServerHttp2Stream
}

/** The HTTP/2 session of a call; undefined where it cannot be told. */
export const sessionOf = (call: object): Http2Session | undefined => (call as StreamedCall).stream?.session
