import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type NetConnectOpts, type Server } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { execaSync } from 'execa'
import { startNameServer } from '../../ops/gateway/test/support/name-server.js'
import { makeAuthority, makeCertificate } from '../support/certificates.js'

/** The destination of a name: a separate loopback address, from which a port is forwarded. */
interface Destination {
  port: number
  to: NetConnectOpts
  /** Whether incoming connections use TLS, with a certificate for the name. */
  tls?: boolean
}

/**
 * Serves the names of containers: each is an address of this machine, like from the name server of a
 * container network.
 */
export async function serveNames(folder: string, destinations: Map<string, Destination>, others: string[]) {
  const addresses = new Map(others.map((name) => [name, '127.0.0.1']))
  const servers: Server[] = []
  makeAuthority(folder)
  for (const [index, [name, { port, to, tls }]] of [...destinations].entries()) {
    const address = `127.0.1.${index + 1}`
    addresses.set(name, address)
    const server = tls ? createTlsServer(certificateOf(folder, name)) : createServer()
    server.on(tls ? 'secureConnection' : 'connection', (near) => {
      const far = connect(to)
      for (const side of [near, far]) side.on('error', () => near.destroy(far.destroy()))
      near.pipe(far).pipe(near)
    })
    await new Promise<void>((resolve) => server.listen(port, address, resolve))
    servers.push(server)
  }
  const nameServer = await startNameServer(addresses, 53)
  const file = join(folder, 'resolv.conf')
  writeFileSync(file, 'nameserver 127.0.0.1\n')
  execaSync('mount', ['--bind', file, '/etc/resolv.conf'])
  return {
    /** File with the authority of the certificates. */
    authority: join(folder, 'ca.pem'),
    close() {
      nameServer.close()
      for (const server of servers) server.close()
    },
  }
}

function certificateOf(folder: string, name: string) {
  makeCertificate(folder, `DNS:${name}`, 'name.pem', 'name.key')
  const read = (file: string) => readFileSync(join(folder, file))
  return { cert: read('name.pem'), key: read('name.key') }
}
