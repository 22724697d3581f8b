import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '@switchyard/config'
import { execa } from 'execa'
import { findOnPath, isExecutable } from './find-on-path.js'

export interface AptPackages {
  /** Name of the folder. */
  name: string
  /** Debian packages that contain it, in order of preference. */
  packages: string[]
}

/** A program; its launcher has the name of the folder. */
export interface AptTool extends AptPackages {
  /**
   * Paths of the program in Debian's packages, relative to the root folder. A program that the system has
   * installed is used instead.
   */
  binaries: string[]
  /** Returns further variables of the launcher, each a list of folders below the root folder. */
  folders?: (root: string) => Record<string, string[]>
}

/** Returns the launcher of a copy that was fetched before, or null. */
export function findAptCopy(tool: { name: string }, toolsDir: string): string | null {
  const launcher = join(toolsDir, tool.name, tool.name)
  return isExecutable(launcher) ? launcher : null
}

/**
 * Fetches a program as {@link fetchAptFolder} does. The result is a launcher script that can be moved and
 * called like the program itself.
 */
export async function fetchAptCopy(tool: AptTool, toolsDir: string): Promise<string> {
  const root = await fetchAptFolder(tool, toolsDir, (unpacked) => writeLauncher(tool, unpacked))
  return join(root, tool.name)
}

/**
 * Unpacks packages into `toolsDir/name` with the apt of the system. It needs no root rights and installs
 * nothing. apt checks signatures and finds the libraries that the system lacks. Rejects with the message of
 * apt.
 *
 * @param complete checks or completes the folder before it gets its name; its errors are thrown
 */
export async function fetchAptFolder(
  wanted: AptPackages,
  toolsDir: string,
  complete: (root: string) => unknown,
): Promise<string> {
  if (!findOnPath('apt-get') || !findOnPath('dpkg-deb')) throw new Error('there is no apt on this system')
  return makeToolFolder(wanted.name, toolsDir, async (work) => {
    const root = await downloadAndUnpack(wanted.packages, work)
    complete(root)
    return root
  })
}

/**
 * Creates the folder `toolsDir/name`. Two starts may create it at the same time: each works in a folder of
 * its own, and the first rename wins.
 *
 * @param fill receives the path of a work folder, and returns the path of the finished folder inside
 */
export async function makeToolFolder(
  name: string,
  toolsDir: string,
  fill: (work: string) => Promise<string>,
): Promise<string> {
  makeFolder(toolsDir)
  const target = join(toolsDir, name)
  const work = join(toolsDir, `${name}.${process.pid}.partial`)
  try {
    const made = await fill(work)
    rmSync(target, { recursive: true, force: true })
    renameSync(made, target)
  } catch (error) {
    if (!existsSync(target)) throw error
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return target
}

async function downloadAndUnpack(packages: string[], work: string): Promise<string> {
  const root = join(work, 'root')
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'log', 'root']) {
    mkdirSync(join(work, folder), { recursive: true })
  }
  const options = [
    `Dir::State=${join(work, 'state')}`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${join(work, 'cache')}`,
    `Dir::Log=${join(work, 'log')}`,
    'Debug::NoLocking=true',
    'Acquire::Languages=none',
    // Under root apt would download as a user who cannot enter this folder.
    ...(process.getuid?.() === 0 ? ['APT::Sandbox::User=root'] : []),
  ].flatMap((option) => ['-o', option])
  const apt = (...args: string[]) => execa('apt-get', ['-qq', ...options, ...args], { all: true })
  await apt('update').catch(explain)
  await firstThatWorks(packages, (name) =>
    apt('--yes', '--no-install-recommends', '--download-only', 'install', name),
  ).catch(explain)
  const archives = join(work, 'cache', 'archives')
  for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
    await execa('dpkg-deb', ['-x', join(archives, file), root])
  }
  return root
}

async function firstThatWorks<T>(items: string[], attempt: (item: string) => Promise<T>): Promise<T> {
  let failure: unknown
  for (const item of items) {
    try {
      return await attempt(item)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function explain(error: { all?: unknown }): never {
  const lines = String(error.all ?? '')
    .trim()
    .split('\n')
  throw new Error(lines.find((line) => line.startsWith('E:')) ?? lines.at(-1) ?? 'apt-get failed')
}

function writeLauncher(tool: AptTool, root: string): void {
  const copied = tool.binaries.find((path) => existsSync(join(root, path)))
  const installed = tool.binaries.find((path) => isExecutable(`/${path}`))
  const binary = copied ? `$here/${copied}` : installed && `/${installed}`
  if (!binary) throw new Error(`the packages do not hold ${tool.binaries.join(' or ')}`)
  const libraries = ['usr/lib', 'lib']
    .flatMap((folder) => [folder, ...multiarchFolders(root, folder)])
    .map((folder) => `$here/${folder}`)
  const further = Object.entries(tool.folders?.(root) ?? {}).map(
    ([name, folders]) => `export ${name}="${folders.map((folder) => `$here/${folder}`).join(':')}"\n`,
  )
  const script = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
${further.join('')}LD_LIBRARY_PATH="${libraries.join(':')}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "${binary}" "$@"
`
  writeFileSync(join(root, tool.name), script, { mode: 0o755 })
}

/** Returns folders like `lib/x86_64-linux-gnu` below `root/folder`. */
export function multiarchFolders(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder))
    .filter((name) => name.includes('-linux-gnu'))
    .map((name) => `${folder}/${name}`)
}
