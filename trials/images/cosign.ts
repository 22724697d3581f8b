import { repository } from '../../ops/docker/test/support/build-stages.js'
import { findAptCopy } from '../../packages/local-servers/src/tools/apt-copy.js'
import { fetchFromRelease } from '../../packages/local-servers/src/tools/debian-release.js'
import { toolsFolder } from '../../packages/local-servers/src/tools/tools-folder.js'

const tool = {
  name: 'cosign',
  release: 'trixie',
  packages: ['cosign', 'libc6'],
  binary: 'usr/bin/cosign',
  check: ['version'],
}

/** Finds the cosign of Debian 13, which also runs on older Debian systems. */
export const findCosign = async (): Promise<string> => {
  const toolsDir = toolsFolder(repository)
  return findAptCopy(tool, toolsDir) ?? (await fetchFromRelease(tool, toolsDir))
}
