import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem } from '../setup/setup-step.mjs'

const debian = 'bookworm'

/**
 * Refuses a machine on which packages of this Debian cannot be fetched.
 *
 * @throws SetupProblem
 */
export function requireDebian() {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  if (!release.includes(`VERSION_CODENAME=${debian}`) || !existsSync('/usr/bin/apt-get'))
    throw new SetupProblem('--images needs Debian 12, whose packages are the ground of the images')
}

/**
 * Fetches packages of Debian with all their dependencies, for any architecture, with the apt of the system.
 * It installs nothing. Packages that were fetched before are reused, so that the same packages result in the
 * same images.
 *
 * @returns the files, ordered by name
 */
export function fetchDebianPackages(toolsDir, architecture, packages) {
  const list = createHash('sha256').update(packages.join()).digest('hex').slice(0, 8)
  const folder = join(toolsDir, `debian-${debian}-${architecture}-${list}`)
  if (!existsSync(folder)) {
    const work = `${folder}.${process.pid}.partial`
    try {
      download(work, architecture, packages)
      renameSync(join(work, 'cache/archives'), folder)
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  }
  const files = readdirSync(folder).filter((name) => name.endsWith('.deb'))
  return files.sort().map((name) => join(folder, name))
}

function download(work, architecture, packages) {
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'log'])
    mkdirSync(join(work, folder), { recursive: true })
  writeFileSync(join(work, 'status'), '')
  const options = [
    `Dir::State=${join(work, 'state')}`,
    `Dir::State::status=${join(work, 'status')}`,
    `Dir::Cache=${join(work, 'cache')}`,
    `Dir::Log=${join(work, 'log')}`,
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    'Debug::NoLocking=true',
    'Acquire::Languages=none',
    // Under root apt would download as a user who cannot enter this folder.
    ...(process.getuid?.() === 0 ? ['APT::Sandbox::User=root'] : []),
  ].flatMap((option) => ['-o', option])
  const apt = (...args) => execFileSync('apt-get', ['-qq', ...options, ...args], { stdio: 'pipe' })
  try {
    apt('update')
    apt('--yes', '--no-install-recommends', '--download-only', 'install', ...packages)
  } catch (error) {
    const lines = String(error.stderr ?? error)
      .trim()
      .split('\n')
    throw new SetupProblem(lines.find((line) => line.startsWith('E:')) ?? lines.at(-1))
  }
}
