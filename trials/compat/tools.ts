import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { execa } from 'execa'
import { toolsFolder } from '../../packages/local-servers/src/tools/tools-folder.js'
import type { Driver } from './driver.js'

/** The tested npm packages, each with the packages that are installed beside it. */
export const npmTools = {
  '@backstage/plugin-catalog-backend-module-gitlab': { version: '0.8.8', beside: [] },
  '@gitbeaker/rest': { version: '43.8.0', beside: [] },
  '@zereight/mcp-gitlab': { version: '2.1.64', beside: [] },
  'changesets-gitlab': { version: '0.13.4', beside: ['@changesets/cli@2.31.1'] },
  danger: { version: '14.0.7', beside: [] },
  giget: { version: '3.3.1', beside: [] },
  'git-cliff': { version: '2.14.2', beside: [] },
  'gitlab-ci-local': { version: '4.75.1', beside: [] },
  'isomorphic-git': { version: '1.44.17', beside: [] },
  lerna: { version: '10.1.1', beside: [] },
  'release-it': { version: '21.1.2', beside: [] },
  renovate: { version: '44.121.2', beside: [] },
  'semantic-release': { version: '25.0.9', beside: ['@semantic-release/gitlab@13.3.3'] },
} as const

/** An installed tool. */
export interface Installed {
  version: string
  /** Folder of the npm packages, with `node_modules`. */
  folder: string
}

/** Installs a tool. Rejects with the reason why it is not available on this machine. */
export async function install({ tool, npm, debian = [], version }: Driver): Promise<Installed> {
  await installFromDebian(debian)
  if (npm) {
    const { version: named, beside } = npmTools[npm]
    const versions = beside.length === 0 ? named : `${named} with ${beside.join(', ')}`
    return { version: versions, folder: await installFromNpm(npm) }
  }
  const own = debian[0] ? await debianVersion(debian[0]) : await version?.()
  if (!own) throw new Error(`${tool} is not installed`)
  return { version: own, folder: '' }
}

/** Installs into a folder that is kept for later runs, as for other downloaded programs. */
async function installFromNpm(name: keyof typeof npmTools): Promise<string> {
  const { version, beside } = npmTools[name]
  const parent = join(toolsFolder(resolve(import.meta.dirname, '../..')), 'compat')
  const folder = join(parent, [name, version, ...beside].join('@').replaceAll('/', '+'))
  if (existsSync(folder)) return folder
  const partial = `${folder}.${process.pid}.partial`
  mkdirSync(partial, { recursive: true })
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--no-save']
  await execa('npm', ['install', '--prefix', partial, ...quiet, `${name}@${version}`, ...beside])
  try {
    renameSync(partial, folder)
  } catch (error) {
    // Another run has installed it first.
    if (!existsSync(folder)) throw error
    rmSync(partial, { recursive: true, force: true })
  }
  return folder
}

/** Returns the version of an installed Debian package, without its epoch. */
async function debianVersion(name: string): Promise<string | undefined> {
  const { stdout } = await execa('dpkg-query', ['--status', name], { reject: false })
  const field = (wanted: string) => new RegExp(`^${wanted}: (.*)$`, 'm').exec(stdout ?? '')?.[1]
  return field('Status')?.endsWith(' installed') ? field('Version')?.replace(/^\d+:/, '') : undefined
}

async function installFromDebian(names: string[]): Promise<void> {
  const missing: string[] = []
  for (const name of names) if ((await debianVersion(name)) === undefined) missing.push(name)
  if (missing.length === 0) return
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  if (!release.includes('VERSION_CODENAME=bookworm') || process.getuid?.() !== 0)
    throw new Error(`${missing.join(', ')} of Debian 12 is not installed, and only root can install it`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  const apt = async (...args: string[]) =>
    (await execa('apt-get', args, { env, reject: false })).exitCode === 0
  const installMissing = () => apt('install', '--yes', '--quiet', '--no-install-recommends', ...missing)
  // A new machine has no package lists yet.
  if (!(await installMissing()) && !((await apt('update')) && (await installMissing())))
    throw new Error(`apt-get cannot install ${missing.join(', ')}`)
}

/** Copies a program to the packages that it imports. Several runs may do so in parallel. */
export function placeProgram(file: string, { folder }: Installed): string {
  if (folder === '') return file
  const placed = join(folder, basename(file))
  const partial = `${placed}.${process.pid}.partial`
  cpSync(file, partial)
  renameSync(partial, placed)
  return placed
}
