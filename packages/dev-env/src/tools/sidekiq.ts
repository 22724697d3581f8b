import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { type AptTool, fetchAptCopy, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'

/** Ruby with Sidekiq, a peer of the job-queue metrics in their tests. */
const tool: AptTool = {
  name: 'ruby-sidekiq',
  packages: ['ruby-sidekiq'],
  binaries: ['usr/bin/ruby3.1', 'usr/bin/ruby3.3', 'usr/bin/ruby3.2', 'usr/bin/ruby3.4'],
  folders: (root) => ({ RUBYLIB: rubyFolders(root), GEM_PATH: ['usr/share/rubygems-integration/all'] }),
}

/**
 * A Ruby that has Sidekiq: the one on PATH, else the copy below `toolsDir`, else fetched there by apt without root.
 * Null, with the reason told, when there is none: only tests against a real Sidekiq need it.
 */
export async function findSidekiqRuby(toolsDir: string, log: (line: string) => void): Promise<string | null> {
  const ruby = findOnPath('ruby')
  if (ruby && (await hasSidekiq(ruby))) return ruby
  const present = findAptCopy(tool, toolsDir)
  if (present) return present
  log('fetching Sidekiq with apt, into the data folder')
  try {
    const launcher = await fetchAptCopy(tool, toolsDir)
    if (!(await hasSidekiq(launcher))) throw new Error('the copy does not run')
    return launcher
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    log(`SKIPPED: tests against a real Sidekiq, because there is none (${reason}).`)
    log('         To run them, type "sudo apt-get install -y ruby-sidekiq".')
    return null
  }
}

async function hasSidekiq(ruby: string): Promise<boolean> {
  const result = await execa(ruby, ['-e', 'require "sidekiq"'], { reject: false })
  return result.exitCode === 0
}

/** Where Debian puts Ruby's libraries: of all versions, and of this machine's kind. */
function rubyFolders(root: string): string[] {
  const bases = ['usr/lib/ruby', ...multiarch(root).map((folder) => `${folder}/ruby`)]
  return bases
    .flatMap((base) => [
      `${base}/vendor_ruby`,
      ...versions(root, `${base}/vendor_ruby`),
      ...versions(root, base),
    ])
    .filter((folder) => existsSync(join(root, folder)))
}

const multiarch = (root: string) =>
  readdirSync(join(root, 'usr/lib'))
    .filter((name) => name.includes('-linux-gnu'))
    .map((name) => `usr/lib/${name}`)

const versions = (root: string, folder: string) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder))
        .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
        .map((name) => `${folder}/${name}`)
    : []
