import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'
import { type Command, hasSetpriv } from '../process/death-signal.js'

/** The operating system user that PostgreSQL runs as. PostgreSQL refuses to run as root. */
export interface ServerUser {
  uid: number
  gid: number
  /** Returns the command, changed to run as that user. */
  asUser(command: Command): Command
}

/**
 * Finds the user that PostgreSQL runs as when this process is root: the owner of an existing cluster,
 * otherwise `postgres`, otherwise `nobody`. Null when this process is not root.
 *
 * When the user cannot access a path, because it is below a closed folder such as `/root`, the server keeps
 * CAP_DAC_OVERRIDE. `no_setuid_fixup` is required so that access(2) respects the capability.
 *
 * @param paths files and folders that the server must access
 */
export function findServerUser(clusterDir: string, paths: string[]): ServerUser | null {
  if (process.getuid?.() !== 0) return null
  const { uid, gid } = ownerOf(clusterDir) ??
    accountOf('postgres') ??
    accountOf('nobody') ?? { uid: 65534, gid: 65534 }
  // A change of the user resets the death signal, so it is set here.
  const asUser = ['--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', '--pdeathsig', 'INT']
  if (!paths.every((path) => isReachable(path, uid, gid))) {
    asUser.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup')
  }
  if (!hasSetpriv()) {
    throw new SolvableProblem(
      'PostgreSQL does not run as root and setpriv (util-linux) is missing: run as another user',
    )
  }
  return {
    uid,
    gid,
    asUser: ({ command, args }) => ({ command: 'setpriv', args: [...asUser, '--', command, ...args] }),
  }
}

function ownerOf(path: string): { uid: number; gid: number } | null {
  if (!existsSync(path)) return null
  const { uid, gid } = statSync(path)
  return uid === 0 ? null : { uid, gid }
}

function accountOf(name: string): { uid: number; gid: number } | null {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return null
  }
}

function isReachable(path: string, uid: number, gid: number): boolean {
  const readAndEnter = 0o5
  for (let part = path; part !== dirname(part); part = dirname(part)) {
    if (!existsSync(part)) continue
    const stat = statSync(part)
    const shift = stat.uid === uid ? 6 : stat.gid === gid ? 3 : 0
    const needed = part === path ? readAndEnter : 0o1
    if (((stat.mode >> shift) & needed) !== needed) return false
  }
  return true
}
