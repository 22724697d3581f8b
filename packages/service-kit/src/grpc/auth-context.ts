import type { ServerInterceptingCall } from '@grpc/grpc-js'
import { sessionOf } from './session-of.js'

export type AuthContext = ReturnType<ServerInterceptingCall['getAuthContext']>

const contexts = new WeakMap<object, AuthContext>()

/**
 * The certificate behind a call, read once a connection: reading one takes tens of microseconds. Where
 * the connection cannot be told, it is read for each call.
 */
export function authContextOf(call: { getAuthContext(): AuthContext }): AuthContext {
  const session = sessionOf(call)
  if (session === undefined) return call.getAuthContext()
  let context = contexts.get(session)
  if (context === undefined) {
    context = call.getAuthContext()
    contexts.set(session, context)
  }
  return context
}
