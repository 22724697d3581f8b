import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** The resource use of a process, as Linux counts it. */
export interface Usage {
  cpuSeconds: number
  residentMiB: number
}

/** Returns the fields of `/proc/PID/stat` after the name of the process. */
const fieldsOf = (pid: number | string): string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** Returns the CPU time since the start of a process, and its current memory. */
export function usageOf(pid: number): Usage {
  const [userTicks, systemTicks] = fieldsOf(pid).slice(11, 13).map(Number) as [number, number]
  const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return {
    cpuSeconds: (userTicks + systemTicks) / ticksPerSecond,
    residentMiB: Number(resident?.[1]) / 1024,
  }
}

/** Returns the CPU time of a process and its children, including ended ones. */
export function cpuSecondsOfTree(root: number): number {
  const fields = fieldsOf(root).slice(11, 15).map(Number)
  let ticks = fields.reduce((sum, value) => sum + value, 0)
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    try {
      const of = fieldsOf(pid)
      if (Number(of[1]) === root) ticks += Number(of[11]) + Number(of[12])
    } catch {
      // The process has ended.
    }
  }
  return ticks / ticksPerSecond
}
