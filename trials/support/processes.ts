import { execFileSync } from 'node:child_process'

export interface ProcessInfo {
  pid: number
  parentPid: number
  command: string
}

/** Every process of this machine. */
export function listProcesses(): ProcessInfo[] {
  return execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, parentPid, command = '']) => ({ pid: Number(pid), parentPid: Number(parentPid), command }))
}

/** The processes that a process has started, and those that these have started. */
export function listDescendants(pid: number, all = listProcesses()): ProcessInfo[] {
  const below = (parent: number): ProcessInfo[] =>
    all.filter((info) => info.parentPid === parent).flatMap((info) => [info, ...below(info.pid)])
  return below(pid)
}

/** Whether a process of this id is there; a zombie counts as gone. */
export function isRunning(pid: number): boolean {
  return listProcesses().some((info) => info.pid === pid && !info.command.endsWith('<defunct>'))
}
