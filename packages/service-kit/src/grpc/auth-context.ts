import type { ServerInterceptingCall } from '@grpc/grpc-js'

export type AuthContext = ReturnType<ServerInterceptingCall['getAuthContext']>

/** A library call that tells which connection it came by; the field is not part of its types. */
interface ConnectedCall {
  stream?: { session?: object }
}

const contexts = new WeakMap<object, AuthContext>()

/**
 * The certificate behind a call, read once a connection: reading one takes tens of microseconds. Where
 * the connection cannot be told, it is read for each call.
 */
export function authContextOf(call: { getAuthContext(): AuthContext }): AuthContext {
  const session = (call as ConnectedCall).stream?.session
  if (session === undefined) return call.getAuthContext()
  let context = contexts.get(session)
  if (context === undefined) {
    context = call.getAuthContext()
    contexts.set(session, context)
  }
  return context
}
