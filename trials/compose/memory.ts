import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../ops/docker/test/support/build-stages.js'
import { markdownTable } from '../support/markdown-table.js'
import type { Installation } from './installation.js'

const page = join(repository, 'docs/operations.md')
const table = /(?<=<!-- memory at rest -->\n\n)[\s\S]*?(?=\n\n<!-- end -->)/

/**
 * Returns the kernel's count of a container's memory in MB, without reclaimable file pages, like `docker
 * stats`.
 */
export async function memoryOf({ exec }: Installation, service: string): Promise<number> {
  const script = `cd /sys/fs/cgroup
    if [ -e memory.current ]; then cat memory.current; grep '^inactive_file ' memory.stat
    else cat memory/memory.usage_in_bytes; grep '^total_inactive_file ' memory/memory.stat; fi`
  const [usage = 0, inactive = 0] = (await exec(service, 'sh', '-c', script))
    .split('\n')
    .map((line) => Number(line.split(' ').at(-1)))
  return Math.round((usage - inactive) / 1e6)
}

/** Writes the memory of each container, in MB, into docs/operations.md. */
export function writeMemory(figures: Map<string, number>): void {
  const total = [...figures.values()].reduce((sum, figure) => sum + figure, 0)
  const rows = [...figures, ['all', total] as const].map(([name, figure]) => [name, String(figure)])
  const text = markdownTable([['container', 'at rest'], ...rows])
  const before = readFileSync(page, 'utf8')
  if (!table.test(before)) throw new Error(`${page} has no table for the memory at rest`)
  writeFileSync(page, before.replace(table, text))
}
