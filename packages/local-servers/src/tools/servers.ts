import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'
import { execa } from 'execa'
import { type AptTool, fetchAptCopy, fetchAptFolder, findAptCopy, multiarchFolders } from './apt-copy.js'
import { fetchFromRelease } from './debian-release.js'
import { findOnPath } from './find-on-path.js'

const redis: AptTool = {
  name: 'redis-server',
  packages: ['redis-server', 'valkey-server'],
  binaries: ['usr/bin/redis-server', 'usr/bin/redis-check-rdb', 'usr/bin/valkey-server'],
}

/**
 * Returns a Redis (or Valkey) to start: from PATH, otherwise the copy below `toolsDir`, otherwise one that
 * apt fetches there without root. It is never an imitation: when there is none, the error names the command
 * to type.
 */
export async function getRedisServer(
  toolsDir: string,
  log: (line: string) => void = () => {},
): Promise<string> {
  const present = findOnPath('redis-server', 'valkey-server') ?? findAptCopy(redis, toolsDir)
  if (present) return present
  log('fetching Redis with apt for later starts')
  try {
    const launcher = await fetchAptCopy(redis, toolsDir)
    await execa(launcher, ['--version'])
    return launcher
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw new SolvableProblem(
      `Redis is missing (${reason}): type "sudo apt-get update" and "sudo apt-get install -y redis-server" ` +
        '(macOS: "brew install redis"), or set REDIS_URL',
    )
  }
}

const nginx: AptTool = { name: 'nginx', packages: ['nginx'], binaries: ['usr/sbin/nginx'] }

/**
 * Returns an nginx to start, found or fetched as `getRedisServer` does. Without root it needs the options -p,
 * -c and -e.
 */
export async function getNginx(toolsDir: string): Promise<string> {
  const present = findOnPath('nginx') ?? findAptCopy(nginx, toolsDir)
  if (present) return present
  try {
    return await fetchAptCopy(nginx, toolsDir)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SolvableProblem(`nginx is missing (${reason}): type "sudo apt-get install -y nginx"`)
  }
}

/** The nginx of Debian 14, because Debian 13 has 1.26. */
const recentNginx = {
  name: 'recent-nginx',
  release: 'forky',
  packages: ['nginx', 'libc6', 'libpcre2-8-0', 'libssl3t64', 'zlib1g', 'libcrypt1', 'libzstd1'],
  binary: 'usr/sbin/nginx',
  check: ['-v'],
}

/**
 * Finds an nginx that runs every file of the gateway as shipped, 1.28 or later as in docker-compose.yml: the
 * one on PATH, otherwise that of Debian 14 in a folder below `toolsDir`, where apt fetches it without root,
 * even on older Debian systems. Null, with the reason reported, when there is none.
 */
export async function findRecentNginx(toolsDir: string, log: (line: string) => void): Promise<string | null> {
  try {
    const onPath = findOnPath('nginx')
    if (onPath && (await isRecent(onPath))) return onPath
    const present = findAptCopy(recentNginx, toolsDir)
    if (present) return present
    log('fetching nginx of Debian 14 with apt for later starts')
    return await fetchFromRelease(recentNginx, toolsDir)
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

const jemalloc = { name: 'jemalloc', packages: ['libjemalloc2'] }

/**
 * Returns the library that saga-reporter's image preloads: the system's, otherwise the copy below `toolsDir`,
 * otherwise one that is fetched there as `getRedisServer` does.
 */
export async function getJemalloc(toolsDir: string): Promise<string> {
  const present = libraryBelow('/') ?? libraryBelow(join(toolsDir, jemalloc.name))
  if (present) return present
  try {
    return requireLibrary(await fetchAptFolder(jemalloc, toolsDir, requireLibrary))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SolvableProblem(`jemalloc is missing (${reason}): type "sudo apt-get install -y libjemalloc2"`)
  }
}

function requireLibrary(root: string): string {
  const library = libraryBelow(root)
  if (!library) throw new Error('the package does not hold libjemalloc.so.2')
  return library
}

function libraryBelow(root: string): string | undefined {
  return multiarchFolders(root, 'usr/lib')
    .map((folder) => join(root, folder, 'libjemalloc.so.2'))
    .find(existsSync)
}
