import { execa } from 'execa'
import { type AptTool, fetchAptCopy, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'

const kubectl: AptTool = { name: 'kubectl', packages: ['kubernetes-client'], binaries: ['usr/bin/kubectl'] }

/** The first major version of Kustomize that reads our files. */
const kustomizeMajorMin = 5

/**
 * Finds a kubectl with a Kustomize that reads our files: the system's, otherwise a copy below `toolsDir`,
 * which apt fetches without root. Null, with the reason reported, when there is none: only tests of the
 * Kubernetes manifests need it.
 */
export async function findKubectl(toolsDir: string, log: (line: string) => void): Promise<string | null> {
  try {
    const present = findOnPath('kubectl') ?? findAptCopy(kubectl, toolsDir)
    if (!present) log('fetching kubectl with apt for later starts')
    const program = present ?? (await fetchAptCopy(kubectl, toolsDir))
    const { stdout } = await execa(program, ['version', '--client', '--output=json'])
    const { kustomizeVersion = 'v0' } = JSON.parse(stdout) as { kustomizeVersion?: string }
    if (Number.parseInt(kustomizeVersion.slice(1), 10) >= kustomizeMajorMin) return program
    log(`tests of the Kubernetes manifests are skipped: ${program} is too old`)
  } catch (error) {
    log(`tests of the Kubernetes manifests are skipped: ${error instanceof Error ? error.message : error}`)
  }
  return null
}

const promtool: AptTool = { name: 'promtool', packages: ['prometheus'], binaries: ['usr/bin/promtool'] }

/**
 * Finds Prometheus' promtool: the system's, otherwise a copy below `toolsDir`, which apt fetches without
 * root. Null, with the reason reported, when there is none: only tests of the alerts need it.
 */
export async function findPromtool(toolsDir: string, log: (line: string) => void): Promise<string | null> {
  const present = findOnPath('promtool') ?? findAptCopy(promtool, toolsDir)
  if (present) return present
  log('fetching promtool with apt for later starts')
  return fetchAptCopy(promtool, toolsDir).catch((error: unknown) => {
    log(`tests of the alerts are skipped: ${error instanceof Error ? error.message : error}`)
    return null
  })
}
