import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'

const name = 'recent-nginx'
/** Debian 13 has 1.26. */
const release = 'forky'
/** nginx with the libraries that it loads, those of the C language too: the system may have older ones. */
const packages = ['nginx', 'libc6', 'libpcre2-8-0', 'libssl3t64', 'zlib1g', 'libcrypt1', 'libzstd1']

/**
 * An nginx that runs every file of the gateway as shipped, 1.28 or later as in docker-compose.yml: the one on PATH, else that of
 * Debian 14 in a folder below `toolsDir`, where apt fetches it on older Debian systems too, without root. Null, with the reason
 * told, when there is none.
 */
export async function findRecentNginx(toolsDir: string, log: (line: string) => void): Promise<string | null> {
  try {
    const onPath = findOnPath('nginx')
    if (onPath && (await isRecent(onPath))) return onPath
    const present = findAptCopy({ name, packages, binaries: [] }, toolsDir)
    if (present) return present
    log('fetching nginx of Debian 14 with apt, into the data folder')
    return await fetchNginx(toolsDir)
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

async function fetchNginx(toolsDir: string): Promise<string> {
  const target = join(toolsDir, name)
  const work = join(toolsDir, `${name}.${process.pid}.partial`)
  const root = join(work, 'root')
  try {
    for (const folder of ['state/lists/partial', 'cache/archives/partial', 'archives', 'root'])
      mkdirSync(join(work, folder), { recursive: true, mode: 0o700 })
    const options = await aptOptions(work)
    await execa('apt-get', [...options, 'update'])
    await execa('apt-get', [...options, 'download', ...packages], { cwd: join(work, 'archives') })
    for (const file of readdirSync(join(work, 'archives')))
      await execa('dpkg-deb', ['-x', join(work, 'archives', file), root])
    await isRecent(writeLauncher(root))
    rmSync(target, { recursive: true, force: true })
    renameSync(root, target)
  } catch (error) {
    // Of two processes that fetch it at the same time, the first one has put it there.
    if (!existsSync(target)) throw error
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return join(target, name)
}

/** Has apt read Debian 14 from where the system reads its own release, and touch nothing of the system. */
async function aptOptions(work: string): Promise<string[]> {
  const format = '$(REPO_URI) $(COMPONENT) $(ORIGIN)'
  const { stdout } = await execa('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'])
  const main = stdout.split('\n').find((line) => line.endsWith(' main Debian'))
  if (!main) throw new Error('this system reads no packages of Debian')
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg'
  writeFileSync(
    join(work, 'sources.list'),
    `deb [signed-by=${keys}] ${main.split(' ', 1)[0]} ${release} main\n`,
  )
  writeFileSync(join(work, 'status'), '')
  return [
    `Dir::State=${join(work, 'state')}`,
    `Dir::State::status=${join(work, 'status')}`,
    `Dir::Cache=${join(work, 'cache')}`,
    `Dir::Etc::sourcelist=${join(work, 'sources.list')}`,
    'Dir::Etc::sourceparts=/dev/null',
    'Debug::NoLocking=true',
    'Acquire::Languages=none',
    ...(process.getuid?.() === 0 ? ['APT::Sandbox::User=root'] : []),
  ].flatMap((option) => ['-o', option])
}

/** A script that runs nginx with the libraries beside it. */
function writeLauncher(root: string): string {
  const libraries = readdirSync(join(root, 'usr/lib')).find((folder) => folder.endsWith('-linux-gnu')) ?? ''
  const folder = join(root, 'usr/lib', libraries)
  const loader = readdirSync(folder).find((file) => file.startsWith('ld-linux')) ?? ''
  const launcher = join(root, name)
  const script = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
lib=$here/usr/lib/${libraries}
exec "$lib/${loader}" --library-path "$lib" "$here/usr/sbin/nginx" "$@"
`
  writeFileSync(launcher, script, { mode: 0o755 })
  return launcher
}
