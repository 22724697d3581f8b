import { spawnSync } from 'node:child_process'

export interface Command {
  command: string
  args: string[]
}

let supported: boolean | undefined

/** Returns whether this machine has `setpriv` (util-linux), which can end a process when its parent ends. */
export function hasSetpriv(): boolean {
  supported ??=
    process.platform === 'linux' &&
    spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true'], { stdio: 'ignore' }).status === 0
  return supported
}

/**
 * Wraps a command so that the kernel sends it `signal` when this process is killed. Without `setpriv`, the
 * command is returned unchanged, and the next start stops the process by its pid file.
 */
export function dieWithParent({ command, args }: Command, signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Command {
  if (!hasSetpriv()) return { command, args }
  return { command: 'setpriv', args: ['--pdeathsig', signal.slice(3), '--', command, ...args] }
}
