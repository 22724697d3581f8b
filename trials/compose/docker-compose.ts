import { repository } from '../../ops/docker/test/support/build-stages.js'
import { findAptCopy } from '../../packages/local-servers/src/tools/apt-copy.js'
import { fetchFromRelease } from '../../packages/local-servers/src/tools/debian-release.js'
import { toolsFolder } from '../../packages/local-servers/src/tools/tools-folder.js'

/** Debian 12 has no version that reads our files. */
const tool = {
  name: 'docker-compose',
  release: 'forky',
  packages: ['docker-compose', 'libc6'],
  binary: 'usr/libexec/docker/cli-plugins/docker-compose',
  check: ['version'],
}

/**
 * Finds the Docker Compose of Debian 14, which also runs on older Debian systems. It uses podman like Docker.
 */
export const findDockerCompose = async (): Promise<string> => {
  const toolsDir = toolsFolder(repository)
  return findAptCopy(tool, toolsDir) ?? (await fetchFromRelease(tool, toolsDir))
}
