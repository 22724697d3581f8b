import { execa } from 'execa'
import { type AptTool, fetchAptCopy, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'
import { rubyBinaries, rubyFolders } from './ruby-folders.js'

/** Ruby with Sidekiq, a peer of the job-queue metrics in their tests. */
const tool: AptTool = {
  name: 'ruby-sidekiq',
  packages: ['ruby-sidekiq'],
  binaries: rubyBinaries,
  folders: rubyFolders,
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
