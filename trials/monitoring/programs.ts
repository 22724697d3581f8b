import { repository } from '../../ops/docker/test/support/build-stages.js'
import { findAptCopy } from '../../packages/local-servers/src/tools/apt-copy.js'
import { fetchFromRelease, type ReleaseTool } from '../../packages/local-servers/src/tools/debian-release.js'
import { toolsFolder } from '../../packages/local-servers/src/tools/tools-folder.js'

/** Debian's programs by the container of docker-compose.monitoring.yml that runs the same one. */
const packages: Record<string, string> = {
  prometheus: 'prometheus',
  'blackbox-exporter': 'prometheus-blackbox-exporter',
  'node-exporter': 'prometheus-node-exporter',
  'postgres-exporter': 'prometheus-postgres-exporter',
  'redis-exporter': 'prometheus-redis-exporter',
}

export const containers = Object.keys(packages)

/**
 * Returns the tool in Debian 14, whose Prometheus has the version of the image; it also runs on older Debian
 * systems.
 */
function toolOf(container: string): ReleaseTool {
  const name = packages[container] ?? container
  return {
    name,
    release: 'forky',
    packages: [name, 'libc6'],
    binary: `usr/bin/${name}`,
    check: ['--version'],
  }
}

async function find(tool: ReleaseTool): Promise<string> {
  const toolsDir = toolsFolder(repository)
  return findAptCopy(tool, toolsDir) ?? (await fetchFromRelease(tool, toolsDir))
}

/** Finds the program of a container, and downloads it when it is missing. */
export const findProgram = (container: string): Promise<string> => find(toolOf(container))
