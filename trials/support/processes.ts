import { execFileSync } from 'node:child_process'

export interface ProcessInfo {
  pid: number
  parentPid: number
  command: string
}

/** Returns every process of this machine. */
export function listProcesses(): ProcessInfo[] {
  return execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, parentPid, command = '']) => ({ pid: Number(pid), parentPid: Number(parentPid), command }))
}

/** Returns the descendants of a process. */
export function listDescendants(pid: number, all = listProcesses()): ProcessInfo[] {
  const below = (parent: number): ProcessInfo[] =>
    all.filter((info) => info.parentPid === parent).flatMap((info) => [info, ...below(info.pid)])
  return below(pid)
}

/** Returns whether a process with this id exists; a zombie does not count. */
export function isRunning(pid: number): boolean {
  return listProcesses().some((info) => info.pid === pid && !info.command.endsWith('<defunct>'))
}
