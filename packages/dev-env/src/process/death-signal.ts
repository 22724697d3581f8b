import { spawnSync } from 'node:child_process'

export interface Command {
  command: string
  args: string[]
}

let supported: boolean | undefined

/** Whether this machine has util-linux' `setpriv`, which can tie a process to the life of its parent. */
export function hasSetpriv(): boolean {
  supported ??=
    process.platform === 'linux' &&
    spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true'], { stdio: 'ignore' }).status === 0
  return supported
}

/**
 * The same command, to which the kernel sends `signal` when this process ends without stopping it (kill -9).
 * Where `setpriv` is missing the command is returned as it is; the next start then cleans up by pid file.
 */
export function dieWithParent({ command, args }: Command, signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Command {
  if (!hasSetpriv()) return { command, args }
  return { command: 'setpriv', args: ['--pdeathsig', signal.slice(3), '--', command, ...args] }
}
