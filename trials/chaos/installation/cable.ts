import { execFileSync } from 'node:child_process'
import type { Command } from '../../../packages/local-servers/src/process/death-signal.js'

/** The network cable of a machine: a network namespace behind a pair of virtual interfaces. */
export interface Cable {
  /** Address of this side, which the machine can reach. */
  nearAddress: string
  /** Address of the machine. */
  farAddress: string
  /** Returns a command that runs on the machine. */
  onMachine(command: Command): Command
  /** Makes packets disappear in both directions without an error. */
  pull(): void
  plug(): void
  remove(): void
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' })

/** Creates a network namespace that represents a machine; null when this process lacks the rights. */
export function layCable(): Cable | null {
  const name = `sw${process.pid}`
  const network = `10.213.${process.pid % 250}`
  const [nearAddress, farAddress] = [`${network}.1`, `${network}.2`]
  try {
    ip('netns', 'add', name)
  } catch {
    return null
  }
  ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  ip('address', 'add', `${nearAddress}/24`, 'dev', name)
  ip('link', 'set', name, 'up')
  ip('-n', name, 'address', 'add', `${farAddress}/24`, 'dev', 'eth0')
  for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up')
  return {
    nearAddress,
    farAddress,
    onMachine: ({ command, args }) => ({ command: 'ip', args: ['netns', 'exec', name, command, ...args] }),
    pull: () => ip('link', 'set', name, 'down'),
    plug: () => ip('link', 'set', name, 'up'),
    remove: () => ip('netns', 'delete', name),
  }
}
