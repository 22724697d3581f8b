import { execa } from 'execa'
import { findAptCopy } from './apt-copy.js'
import { fetchFromRelease } from './debian-release.js'
import { findOnPath } from './find-on-path.js'

/** Debian 13 has 1.26. */
const tool = {
  name: 'recent-nginx',
  release: 'forky',
  packages: ['nginx', 'libc6', 'libpcre2-8-0', 'libssl3t64', 'zlib1g', 'libcrypt1', 'libzstd1'],
  binary: 'usr/sbin/nginx',
  check: ['-v'],
}

/**
 * An nginx that runs every file of the gateway as shipped, 1.28 or later as in docker-compose.yml: the one on PATH, else that of
 * Debian 14 in a folder below `toolsDir`, where apt fetches it on older Debian systems too, without root. Null, with the reason
 * reported, when there is none.
 */
export async function findRecentNginx(toolsDir: string, log: (line: string) => void): Promise<string | null> {
  try {
    const onPath = findOnPath('nginx')
    if (onPath && (await isRecent(onPath))) return onPath
    const present = findAptCopy(tool, toolsDir)
    if (present) return present
    log('fetching nginx of Debian 14 with apt for later starts')
    return await fetchFromRelease(tool, toolsDir)
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
    log(
      `SKIPPED: tests of the gateway's files as shipped, because there is no nginx 1.28 or later (${reason})`,
    )
    return null
  }
}

async function isRecent(program: string): Promise<boolean> {
  const { stderr } = await execa(program, ['-v'])
  const [, major = 0, minor = 0] = /nginx\/(\d+)\.(\d+)/.exec(stderr) ?? []
  return Number(major) > 1 || Number(minor) >= 28
}
