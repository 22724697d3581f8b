import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

const host = '127.0.0.1'

/**
 * Connections of this process with itself. They are real sockets: over streams within the process, node:http2 stands
 * still as soon as both sides send more than a little.
 */
export class InnerSockets {
  readonly #server: Server
  /** Those whose other end has not come yet. */
  readonly #begun = new Set<Socket>()

  /** @param onSocket given the other end of each connection */
  constructor(onSocket: (socket: Socket) => void) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      if (this.#isOurs(socket)) onSocket(socket)
      else socket.destroy()
    }).unref()
  }

  /** To be awaited before the first connection. */
  async listen(): Promise<void> {
    this.#server.listen(0, host)
    await once(this.#server, 'listening')
  }

  connect(): Socket {
    const { port } = this.#server.address() as AddressInfo
    const socket = connect({ host, port, noDelay: true })
    this.#begun.add(socket)
    socket.once('close', () => this.#begun.delete(socket))
    return socket
  }

  close(): void {
    this.#server.close()
  }

  /** Others on this machine could say that they are anybody. */
  #isOurs(socket: Socket): boolean {
    for (const begun of this.#begun)
      if (begun.localPort === socket.remotePort) return this.#begun.delete(begun)
    return false
  }
}
