import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { execa } from 'execa'

/** The oldest release that may start Switchyard. */
export const olderNodeVersion = '20.19.6'

/** Variables that make a Node of that release, which npm fetches, the machine's own. */
export async function olderNodeEnvironment(): Promise<{ PATH: string }> {
  const folder = resolve(import.meta.dirname, `../../.switchyard/tools/node-${olderNodeVersion}`)
  const name = `node-${process.platform}-${process.arch}@${olderNodeVersion}`
  if (!existsSync(join(folder, 'bin', 'node')))
    await execa('npm', ['install', '--global', '--prefix', folder, '--prefer-offline', name])
  return { PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter) }
}
