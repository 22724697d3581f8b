import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { execa } from 'execa'
import { toolsFolder } from '../../packages/local-servers/src/tools/tools-folder.js'

/** The oldest release that may start Switchyard. */
export const olderNodeVersion = '20.19.6'

/** Returns variables that put that Node release, which npm downloads, first in PATH. */
export async function olderNodeEnvironment(): Promise<{ PATH: string }> {
  const folder = join(toolsFolder(resolve(import.meta.dirname, '../..')), `node-${olderNodeVersion}`)
  const name = `node-${process.platform}-${process.arch}@${olderNodeVersion}`
  if (!existsSync(folder)) {
    // Several test files may download it in parallel: each uses a separate folder, and the first rename wins.
    const partial = `${folder}.${process.pid}.partial`
    await execa('npm', ['install', '--global', '--prefix', partial, '--prefer-offline', name])
    try {
      await rename(partial, folder)
    } catch (error) {
      if (!existsSync(folder)) throw error
      await rm(partial, { recursive: true, force: true })
    }
  }
  return { PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter) }
}
