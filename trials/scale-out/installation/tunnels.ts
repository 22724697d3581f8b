import { join } from 'node:path'
import { type Machine, machineNames, network } from './machines.js'
import type { Servers } from './servers.js'

/** Ports of a machine that use TLS. */
const tlsPorts = [8008, 8081, 8082, 8083, 8084, 8085, 8086, 8087]
/** Ports of the gateway at the virtual address. */
export const gatewayPorts = { http: 8080, grpc: 50_051 }

/** Returns the loopback port that leads to a port of a machine. */
export const tunnelPort = ({ name }: Machine, port: number): number =>
  port + 1000 * (machineNames.indexOf(name) + 1)

/**
 * Starts an HAProxy for the tests, which use plain HTTP on loopback, because browsers allow more there. It
 * forwards to each machine, with a certificate like a machine's, and to the gateway.
 */
export function startTunnels(servers: Servers): void {
  const folder = servers.tlsOf('tests')
  const tls = `ssl crt ${join(folder, 'machine.pem')} ca-file ${join(folder, 'ca.pem')} verify required`
  const listen = (port: number, to: string) =>
    `listen port-${port}\n  bind 127.0.0.1:${port}\n  server one ${to}\n`
  const sections = [
    'global\n  maxconn 4000\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1d\n  timeout server 1d\n',
    ...Object.values(gatewayPorts).map((port) => listen(port, `${network.virtual}:${port}`)),
    ...servers.machines.flatMap((machine) =>
      tlsPorts.map((port) =>
        listen(tunnelPort(machine, port), `${machine.address}:${port} ${tls} verifyhost ${machine.name}`),
      ),
    ),
  ]
  const file = servers.write('tunnels.cfg', sections.join('\n'))
  servers.start('tunnels', { command: '/usr/sbin/haproxy', args: ['-db', '-f', file] })
}
