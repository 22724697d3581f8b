#!/usr/bin/env node
// The command of an installed release. Each name here is a script of this folder, which reads the arguments
// after the name. Every other name belongs to the command for instances.
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { release } from './setup/installed.mjs'

const commands = {
  start: { script: 'start.mjs', does: 'runs everything until Ctrl-C' },
  'report-saga': { script: 'report-saga.mjs', does: 'reports an example saga' },
  backup: { script: 'backup.mjs', does: 'backs up into a folder, or checks a backup' },
  restore: {
    script: 'restore.mjs',
    does: 'restores a backup into an empty installation, or one of its projects',
  },
  'db:migrate': { script: 'run-built.mjs', does: 'brings the schema of DATABASE_URL up to date' },
  'saga:rebuild': { script: 'run-built.mjs', does: 'works the state of sagas out again from their events' },
  'storage:check': { script: 'storage-check.mjs', does: 'says whether two mounts are safe for repositories' },
}

const [name, ...args] = process.argv.slice(2)
const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined

if (command) {
  const { SWITCHYARD_DATA, XDG_DATA_HOME } = process.env
  // An upgrade replaces the folder of the release, so no data is in it.
  process.env.SWITCHYARD_DATA = resolve(
    SWITCHYARD_DATA || join(XDG_DATA_HOME || join(homedir(), '.local/share'), 'switchyard'),
  )
  const script = join(import.meta.dirname, command.script)
  // The script may run again on another Node, with these arguments.
  process.argv.splice(
    1,
    process.argv.length,
    script,
    ...(command.script === 'run-built.mjs' ? [name] : []),
    ...args,
  )
  await import(script)
} else if (name === '--version') {
  console.log(
    `${release.version} (commit ${release.revision.slice(0, 11)} of ${release.committed_at.slice(0, 10)})`,
  )
} else {
  // The command for instances runs every other name. Its help lists the commands of both.
  const { main } = await import('../packages/cli/dist/main.js')
  const own = Object.entries(commands).map(([each, { does }]) => ({ name: each, does }))
  await main(process.argv.slice(2), { version: release.version, commands: own })
}
