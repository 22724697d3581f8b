// The program of the image: `node dist/bundle/main.js backup|check|restore FOLDER`. DATABASE_URL and SWITCHYARD_STORAGE_ROOT name the
// installation.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type CommandOptions, runBackup, runCheck, runRestore } from './index.js'

const commands = new Map<string, (options: CommandOptions) => Promise<number>>([
  ['backup', runBackup],
  ['check', runCheck],
  ['restore', runRestore],
])
const [name = '', folder] = process.argv.slice(2)
const command = commands.get(name)
if (!command) {
  process.stderr.write('usage: main.js backup|check|restore FOLDER\n')
  process.exit(1)
}
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
process.exitCode = await command({ root: process.cwd(), version, folder: folder && resolve(folder) })
// A handle that a library keeps open must not keep this process running.
process.exit()
