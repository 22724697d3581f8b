import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { ServerInterceptingCall } from '@grpc/grpc-js'

export type AuthContext = ReturnType<ServerInterceptingCall['getAuthContext']>

/** Who is at the other end of a connection. */
export class Caller {
  readonly socket: Socket
  /** Host and port. */
  readonly peer: string
  #authContext: AuthContext | undefined

  constructor(socket: Socket) {
    const { remoteAddress, remotePort } = socket
    this.socket = socket
    this.peer = remoteAddress === undefined ? 'unknown' : `${remoteAddress}:${remotePort}`
  }

  /**
   * The certificate behind the calls, read once: reading one takes tens of microseconds. A certificate that no
   * authority of ours signed is none.
   */
  get authContext(): AuthContext {
    this.#authContext ??= readContext(this.socket)
    return this.#authContext
  }
}

function readContext(socket: Socket): AuthContext {
  if (!(socket instanceof TLSSocket && socket.authorized)) return {}
  const certificate = socket.getPeerCertificate()
  return { transportSecurityType: 'ssl', ...(certificate.raw && { sslPeerCertificate: certificate }) }
}
