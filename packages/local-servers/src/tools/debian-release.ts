import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { makeToolFolder } from './apt-copy.js'

/** A program from another release of Debian than that of this machine. */
export interface ReleaseTool {
  /** Name of the folder, and of the launcher in it. */
  name: string
  release: string
  /**
   * Packages of the program and of all its libraries, including those of the C language, because the system
   * may have older ones.
   */
  packages: string[]
  /** Path of the program in Debian's packages, relative to the root folder. */
  binary: string
  /** Arguments with which the program ends at once if it runs on this machine. */
  check: string[]
}

/**
 * Unpacks packages of a release of Debian into `toolsDir/name`, with the apt of the system. It needs no root
 * rights and installs nothing.
 *
 * @returns a launcher script that can be called like the program itself
 */
export async function fetchFromRelease(tool: ReleaseTool, toolsDir: string): Promise<string> {
  const target = await makeToolFolder(tool.name, toolsDir, async (work) => {
    const root = join(work, 'root')
    for (const folder of ['state/lists/partial', 'cache/archives/partial', 'archives', 'root'])
      mkdirSync(join(work, folder), { recursive: true, mode: 0o700 })
    const options = await aptOptions(tool.release, work)
    await execa('apt-get', [...options, 'update'])
    await execa('apt-get', [...options, 'download', ...tool.packages], { cwd: join(work, 'archives') })
    for (const file of readdirSync(join(work, 'archives')))
      await execa('dpkg-deb', ['-x', join(work, 'archives', file), root])
    await execa(writeLauncher(tool, root), tool.check)
    return root
  })
  return join(target, tool.name)
}

/**
 * Returns options with which apt reads another release from the sources of the system, and changes nothing of
 * the system.
 */
async function aptOptions(release: string, work: string): Promise<string[]> {
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

/** Writes a script that runs the program with the libraries beside it. */
function writeLauncher({ name, binary }: ReleaseTool, root: string): string {
  const libraries = readdirSync(join(root, 'usr/lib')).find((folder) => folder.endsWith('-linux-gnu')) ?? ''
  const folder = join(root, 'usr/lib', libraries)
  const loader = readdirSync(folder).find((file) => file.startsWith('ld-linux')) ?? ''
  const script = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
lib=$here/usr/lib/${libraries}
exec "$lib/${loader}" --library-path "$lib" "$here/${binary}" "$@"
`
  writeFileSync(join(root, name), script, { mode: 0o755 })
  return join(root, name)
}
