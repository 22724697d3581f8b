// Runs a command with a temporary PostgreSQL and the other tools of tests: `node scripts/with-infra.mjs
// vitest run …`. With --postgres it provides only PostgreSQL.
import { delimiter, join, resolve } from 'node:path'
import { register } from 'tsx/esm/api'
import { runGroup } from '../ops/setup/child-group.mjs'
import { toolsFolder } from '../ops/setup/own-node.mjs'
import { stopSignal } from '../ops/setup/stop-signal.mjs'
import { testFolder } from './test-folder.mjs'

const stop = stopSignal()
const root = resolve(import.meta.dirname, '..')
const given = process.argv.slice(2)
const isPostgresAlone = given[0] === '--postgres'
const command = isPostgresAlone ? given.slice(1) : given
if (command.length === 0) {
  console.error('Usage: node scripts/with-infra.mjs [--postgres] COMMAND [ARGUMENT…]')
  process.exit(2)
}

// Runs from the sources, so that a test needs no build after an edit.
register()
const { withInfra, withPostgres } = await import('../packages/local-servers/src/with-infra.ts')
process.env.PATH = join(root, 'node_modules', '.bin') + delimiter + process.env.PATH
try {
  const runCommand = (env) => runGroup(command, stop, { env })
  process.exitCode = isPostgresAlone
    ? await withPostgres(runCommand, testFolder())
    : await withInfra(toolsFolder(root), runCommand, testFolder())
} catch (error) {
  console.error(error instanceof Error && error.name === 'SolvableProblem' ? error.message : error)
  process.exitCode = 1
}
