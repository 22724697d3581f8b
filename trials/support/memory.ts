import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listDescendants, listProcesses } from './processes.js'

export type Service = 'git-api' | 'saga-reporter'

/**
 * Returns the memory of a service's process (resident set), and of its descendants without mapped files, in
 * bytes.
 *
 * @param tree id of the process that runs the services
 */
export function memoryOf(tree: number, service: Service): number {
  const processes = listProcesses()
  const main = join('services', service, 'dist')
  const own = listDescendants(tree, processes).find(({ command }) => command.includes(main))
  if (!own) throw new Error(`${service} does not run`)
  const others = listDescendants(own.pid, processes)
  return others.reduce((sum, { pid }) => sum + memoryField(pid, 'RssAnon'), memoryField(own.pid, 'VmRSS'))
}

const lookEveryMs = 200

/**
 * Runs some work.
 *
 * @returns the largest growth of a service's memory, as {@link memoryOf} measures it, in bytes
 */
export async function growthWhile(
  tree: number,
  service: Service,
  run: () => Promise<unknown>,
): Promise<number> {
  const before = memoryOf(tree, service)
  let grownBytes = 0
  const watch = setInterval(() => {
    grownBytes = Math.max(grownBytes, memoryOf(tree, service) - before)
  }, lookEveryMs)
  try {
    await run()
  } finally {
    clearInterval(watch)
  }
  return grownBytes
}

/** Returns a field of a process's status, in bytes; 0 when the process has ended. */
function memoryField(pid: number, field: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/**
 * Returns the memory of a process with its share of common memory, in bytes; 0 when the process has ended.
 */
export function shareOfMemory(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
