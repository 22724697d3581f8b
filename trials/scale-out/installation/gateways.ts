import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { gatewayFolder } from '../../../ops/gateway/test/support/gateway.js'
import type { Machine } from './machines.js'
import { type Servers, shipped } from './servers.js'

/**
 * Starts HAProxy on every machine; on the first two also the gateway, and keepalived, which gives the first
 * one the virtual address.
 *
 * @param nginx the program
 */
export async function startGateways(servers: Servers, nginx: string): Promise<void> {
  for (const machine of servers.machines) {
    const file = servers.configure('haproxy.cfg', machine)
    servers.start('haproxy', { command: '/usr/sbin/haproxy', args: ['-db', '-f', file] }, machine)
  }
  const [first, second] = servers.machines
  if (!first || !second) throw new Error('there are no two machines')
  for (const machine of [first, second]) startGateway(servers, machine, nginx)
  startKeepalived(servers, first)
  await waitFor(first.hasVirtualAddress, { what: 'the virtual address', intervalMs: 100 })
  startKeepalived(servers, second)
}

/** Starts nginx with the shipped files, in its folder on this machine. */
function startGateway(servers: Servers, machine: Machine, nginx: string): void {
  const folder = servers.makeFolder(`${machine.name}/gateway`)
  // The workers run as another user.
  chmodSync(folder, 0o755)
  const files = ['nginx.conf', 'listen-http.conf', 'listen-grpc.conf'].map((name) =>
    join(gatewayFolder, name),
  )
  for (const file of [...files, join(shipped, 'upstreams.conf')])
    copyFileSync(file, join(folder, basename(file)))
  const configuration = readFileSync(join(folder, 'nginx.conf'), 'utf8')
  writeFileSync(join(folder, 'nginx.conf'), configuration.replaceAll('/run/gateway/', `${folder}/`))
  const args = [join(gatewayFolder, 'start.sh'), folder, folder]
  servers.start('gateway', { command: 'sh', args, env: { NGINX: nginx } }, machine)
}

function startKeepalived(servers: Servers, machine: Machine): void {
  const file = servers.configure('keepalived.conf', machine)
  const pids = ['pid', 'vrrp_pid'].map((name) => `--${name}=${join(servers.runOf(machine), name)}`)
  const args = ['--dont-fork', '--log-console', '--vrrp', `--use-file=${file}`, ...pids]
  servers.start('keepalived', { command: '/usr/sbin/keepalived', args }, machine)
}
