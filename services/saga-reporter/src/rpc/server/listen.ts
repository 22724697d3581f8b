import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from 'node:tls'

export interface ListenOptions {
  /** A host name, which may have several addresses, or an address; an IPv6 address may be in brackets. */
  host: string
  /** 0: any free port. */
  port: number
  /** Certificates; without them, connections are not encrypted. */
  tls?: TlsOptions
  /** Given each connection; with certificates, each whose client chose HTTP/2. */
  onConnection: (socket: Socket) => void
}

export interface Listener {
  port: number
  /** New connections use these certificates. */
  renew: (tls: TlsOptions) => void
  /** Accepts no new connections; open connections stay. */
  close: () => void
}

/**
 * Listens on every address of a host.
 *
 * @throws Error when none of them can be listened on
 */
export async function listen({ host, port, tls, onConnection }: ListenOptions): Promise<Listener> {
  const addresses = await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true })
  const servers: Server[] = []
  const failures: unknown[] = []
  let bound = port
  for (const { address } of addresses) {
    const server = tls === undefined ? createServer(onConnection) : createHttp2OverTls(tls, onConnection)
    try {
      server.listen(bound, address)
      await once(server, 'listening')
      servers.push(server)
      bound = (server.address() as AddressInfo).port
    } catch (error) {
      failures.push(error)
    }
  }
  if (servers.length === 0) throw failures[0]
  return {
    port: bound,
    renew: (context) => {
      for (const server of servers) (server as TlsServer).setSecureContext(context)
    },
    close: () => {
      for (const server of servers) server.close()
    },
  }
}

function createHttp2OverTls(tls: TlsOptions, onConnection: (socket: Socket) => void): TlsServer {
  const server = createTlsServer({ ...tls, ALPNProtocols: ['h2'] })
  server.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') onConnection(socket)
    else socket.destroy()
  })
  return server
}
