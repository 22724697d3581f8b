import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Finds the command line of a running process; null when there is no process with this id. */
export function findCommandLine(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || null
    }
    const ps = execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return ps.trim() || null
  } catch {
    return null
  }
}

/**
 * Sends a signal to a process and waits for its end.
 *
 * @returns false when it still runs after `timeoutMs`
 */
export async function endProcess(pid: number, signal: NodeJS.Signals, timeoutMs: number): Promise<boolean> {
  try {
    process.kill(pid, signal)
  } catch {
    return findCommandLine(pid) === null
  }
  const deadline = performance.now() + timeoutMs
  while (performance.now() < deadline) {
    if (findCommandLine(pid) === null) return true
    await delay(25)
  }
  return false
}
