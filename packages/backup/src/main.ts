// The program of the image. DATABASE_URL and SWITCHYARD_STORAGE_ROOT locate the installation.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { commandLineProblem } from '@switchyard/config'
import { type CommandOptions, runBackup, runCheck, runRestore, runRestoreProject } from './index.js'

const commands = new Map<string, (options: CommandOptions) => Promise<number>>([
  ['backup', runBackup],
  ['check', runCheck],
  ['restore', runRestore],
])
const usage = `Usage: node dist/bundle/main.js backup|check|restore FOLDER
       node dist/bundle/main.js restore --project PATH [--as NEW_PATH] FOLDER
`

/** Reads the command and its folder; null for a command line with anything else. */
function readCommandLine() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' }, project: { type: 'string' }, as: { type: 'string' } },
  })
  if (values.help) {
    process.stdout.write(usage)
    process.exit(0)
  }
  const [name = '', folder, ...surplus] = positionals
  const { project, as } = values
  const ofProject = (options: CommandOptions) => runRestoreProject(options, { project: project ?? '', as })
  const isOfProject = project !== undefined || as !== undefined
  if (isOfProject && (name !== 'restore' || project === undefined)) return null
  const command = isOfProject ? ofProject : commands.get(name)
  return command && folder && surplus.length === 0 ? { command, folder } : null
}

function refuse(why: string): never {
  process.stderr.write(`${why}${usage}`)
  process.exit(2)
}

let commandLine: ReturnType<typeof readCommandLine> = null
try {
  commandLine = readCommandLine()
} catch (error) {
  refuse(`✗ ${commandLineProblem(error)}\n`)
}
const { command, folder } = commandLine ?? refuse('')
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
process.exitCode = await command({ root: process.cwd(), version, folder: resolve(folder) })
// A handle that a library keeps open must not keep this process running.
process.exit()
