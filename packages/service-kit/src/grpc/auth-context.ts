import type { Http2Session } from 'node:http2'
import { TLSSocket } from 'node:tls'
import type { ServerInterceptingCall } from '@grpc/grpc-js'

export type AuthContext = ReturnType<ServerInterceptingCall['getAuthContext']>

const contexts = new WeakMap<object, AuthContext>()

/**
 * The certificate behind the calls of a connection, read once: reading one takes tens of microseconds. A
 * certificate that no authority of ours signed is none.
 */
export function authContextOf(session: Http2Session): AuthContext {
  let context = contexts.get(session)
  if (context === undefined) {
    context = readContext(session.socket)
    contexts.set(session, context)
  }
  return context
}

function readContext(socket: unknown): AuthContext {
  if (!(socket instanceof TLSSocket && socket.authorized)) return {}
  const certificate = socket.getPeerCertificate()
  return { transportSecurityType: 'ssl', ...(certificate.raw && { sslPeerCertificate: certificate }) }
}
