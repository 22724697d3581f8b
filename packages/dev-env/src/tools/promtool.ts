import { type AptTool, fetchAptCopy, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'

const tool: AptTool = { name: 'promtool', packages: ['prometheus'], binaries: ['usr/bin/promtool'] }

/**
 * Prometheus' promtool: the system's, else a copy below `toolsDir`, which apt fetches without root. Null, with the reason reported,
 * when there is none: only tests of the alerts need it.
 */
export async function findPromtool(toolsDir: string, log: (line: string) => void): Promise<string | null> {
  const present = findOnPath('promtool') ?? findAptCopy(tool, toolsDir)
  if (present) return present
  log('fetching promtool with apt for later starts')
  return fetchAptCopy(tool, toolsDir).catch((error: unknown) => {
    log(`tests of the alerts are skipped: ${error instanceof Error ? error.message : error}`)
    return null
  })
}
