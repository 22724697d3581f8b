import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

interface ProcessTimes {
  parent: number
  own: number
  /** Time of the descendants of the process that have ended. */
  ended: number
}

/** Returns the CPU milliseconds of all processes below one so far, including ended ones. Linux only. */
export function cpuMsBelow(pid: number): number {
  const times = new Map<number, ProcessTimes>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      times.set(Number(entry), timesOf(readFileSync(`/proc/${entry}/stat`, 'utf8')))
    } catch {
      // The process has ended meanwhile.
    }
  }
  const below = (id: number): number =>
    [...times]
      .filter(([, { parent }]) => parent === id)
      .reduce((sum, [child, { own }]) => sum + own + below(child), times.get(id)?.ended ?? 0)
  return (below(pid) * 1000) / ticksASecond
}

/**
 * Parses the fields after the name in parentheses: state, parent and, as the twelfth to fifteenth, the times.
 */
function timesOf(stat: string): ProcessTimes {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number)
  return { parent: Number(fields[1]), own: user + system, ended: endedUser + endedSystem }
}

const ticksASecond = Number(execFileSync('getconf', ['CLK_TCK']).toString())
