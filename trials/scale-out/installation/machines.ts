import { execFileSync } from 'node:child_process'
import type { Command } from '../../../packages/local-servers/src/process/death-signal.js'

export const machineNames = ['one', 'two', 'three'] as const
export type MachineName = (typeof machineNames)[number]

/** A network namespace that represents a machine: its cable is a pair of virtual interfaces to a bridge. */
export interface Machine {
  name: MachineName
  address: string
  /** Returns a command that runs on the machine. */
  onMachine(command: Command): Command
  /** Makes packets disappear in both directions without an error. */
  pullCable(): void
  plugCable(): void
  /** Returns the ids of all processes of the machine. */
  processes(): number[]
  hasVirtualAddress(): boolean
}

/** The network, in which the tests are a machine, too. */
export const network = { own: '10.77.0.1', virtual: '10.77.0.10', prefix: '24', all: '10.77.0.0/24' }

const bridge = 'machines'
const ip = (...args: string[]) => execFileSync('ip', args, { encoding: 'utf8', stdio: 'pipe' })

/** Creates machines in the network of this process, which must be a namespace of its own. */
export function layNetwork() {
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('address', 'add', `${network.own}/${network.prefix}`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  const machines = machineNames.map((name, index) => addMachine(name, `10.77.0.${11 + index}`))
  return {
    machines,
    remove() {
      for (const { name } of machines) {
        // The kernel removes a namespace, with its cable, some time later.
        ip('link', 'delete', name)
        ip('netns', 'delete', name)
      }
      ip('link', 'delete', bridge)
    },
  }
}

function addMachine(name: MachineName, address: string): Machine {
  ip('netns', 'add', name)
  ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  ip('link', 'set', name, 'master', bridge, 'up')
  ip('-n', name, 'address', 'add', `${address}/${network.prefix}`, 'dev', 'eth0')
  for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up')
  ip('netns', 'exec', name, 'sysctl', '--quiet', '--write', 'net.ipv4.ip_nonlocal_bind=1')
  return {
    name,
    address,
    onMachine: ({ command, args }) => ({ command: 'ip', args: ['netns', 'exec', name, command, ...args] }),
    pullCable: () => ip('link', 'set', name, 'down'),
    plugCable() {
      // A machine that was off has no address of keepalived.
      ip('-n', name, 'address', 'flush', 'dev', 'eth0')
      ip('-n', name, 'address', 'add', `${address}/${network.prefix}`, 'dev', 'eth0')
      ip('link', 'set', name, 'up')
    },
    processes: () => ip('netns', 'pids', name).split('\n').filter(Boolean).map(Number),
    hasVirtualAddress: () =>
      ip('-n', name, 'address', 'show', 'dev', 'eth0').includes(` ${network.virtual}/`),
  }
}
